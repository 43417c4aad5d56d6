import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openContainedRuntime } from '../../../src/platform/runtime/contained/containedRuntime'
import { findContainerPrograms } from '../../../src/platform/runtime/contained/containerPrograms'
import type { LocalSpec, Runtime } from '../../../src/platform/runtime/runtime'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { createReplicas, type Replicas } from '../../../src/platform/share/replicas/replicas'
import { canContain, isRoot } from './canContain'
import { localSpec } from './instanceSpec'
import { useTemporaryDirectory } from './temporaryDirectory'
import { until } from './until'

export const describeContained: typeof describe.skip = canContain ? describe : describe.skip
/** For tests that mount file systems or change owners of files. */
export const testAsRoot: typeof test.skip = isRoot ? test : test.skip

/** Opens the runtime for the tests of a file. */
export function useContainedRuntime() {
  const root = useTemporaryDirectory()
  const dataDir = () => join(root(), 'data')
  const shareDir = () => join(root(), 'share')
  const log = pino({ level: 'silent' })
  let runtime: Runtime<LocalSpec>
  let replicas: Replicas
  let files: Files

  /** @param more directories of programs that instances may use, or another data directory */
  const open = (more: { programs?: string[]; dataDir?: string } = {}) =>
    openContainedRuntime({ ...settings(), ...more })
  const settings = () => ({
    dataDir: dataDir(),
    shareDir: shareDir(),
    programs: [],
    replicas,
    log,
    writeBack: files.writeBack,
  })

  beforeAll(async () => {
    mkdirSync(dataDir(), { mode: 0o711 })
    mkdirSync(shareDir(), { mode: 0o700 })
    replicas = createReplicas(dataDir(), log)
    files = await openFiles({ dataDir: dataDir(), shareDir: shareDir(), log, now: Date.now })
    runtime = await open()
  })
  afterAll(async () => {
    for (const { podName } of await runtime.list()) await runtime.kill(podName)
    await until(
      () => runtime.list(),
      (all) => all.every(({ state }) => state === 'EXITED'),
    )
    await runtime.close()
    await files.close()
    await replicas.close()
  })

  function directoryOf(deployment: string): string {
    const path = join(shareDir(), deployment)
    mkdirSync(path, { recursive: true })
    return path
  }
  const spec = (podName: string, command: LocalSpec['command'], change: Partial<LocalSpec> = {}): LocalSpec =>
    localSpec({ podName, command, directory: directoryOf(podName), ...change })
  const find = async (podName: string) => (await runtime.list()).find((run) => run.podName === podName)
  const hasEnded = (podName: string) =>
    until(
      () => find(podName),
      (run) => run?.state === 'EXITED',
    )
  const lines = async (podName: string, limit = 10_000) =>
    (await runtime.history(podName, limit)).map(({ content }) => content)
  const prints = (podName: string, text: string) =>
    until(
      () => lines(podName),
      (all) => all.includes(text),
    )

  /**
   * Closes the runtime and opens it again, as a restart of the platform does.
   * @param meanwhile runs in between. @param programs as in `open`
   */
  async function reopen(meanwhile?: () => void, programs: string[] = []): Promise<void> {
    await runtime.close()
    meanwhile?.()
    runtime = await open({ programs })
  }

  return {
    root,
    dataDir,
    shareDir,
    settings,
    runtime: () => runtime,
    directoryOf,
    spec,
    find,
    hasEnded,
    lines,
    prints,
    reopen,
    /** Runs the work with another runtime in place of this one. */
    async withRuntimeIn(other: string, work: () => Promise<void>): Promise<void> {
      const kept = runtime
      runtime = await open({ dataDir: other })
      try {
        await work()
      } finally {
        await runtime.close()
        runtime = kept
      }
    },
    /** Runs shell commands in an instance of their own and returns what they print. */
    async runInside(podName: string, script: string, change: Partial<LocalSpec> = {}): Promise<string[]> {
      await runtime.ensure(spec(podName, ['sh', '-c', script], change))
      await hasEnded(podName)
      return lines(podName)
    },
    /** Runs the work with a runc that runs shell commands first. */
    async withRunc(commands: string, work: () => Promise<void>): Promise<void> {
      const programs = join(root(), 'wrapping')
      const found = findContainerPrograms(process.env.PATH ?? '')
      mkdirSync(programs, { recursive: true })
      writeFileSync(
        join(programs, 'runc'),
        `#!/bin/sh\n${commands}\nexec ${'runc' in found ? found.runc : 'runc'} "$@"\n`,
        { mode: 0o755 },
      )
      const { PATH } = process.env
      try {
        process.env.PATH = `${programs}:${PATH}`
        await reopen()
        await work()
      } finally {
        process.env.PATH = PATH
        await reopen()
      }
    },
  }
}

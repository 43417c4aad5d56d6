import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openContainedRuntime } from '../../../../src/platform/runtime/contained/containedRuntime'
import type { RunRecord } from '../../../../src/platform/runtime/contained/runRecord'
import type { LocalSpec, Runtime } from '../../../../src/platform/runtime/runtime'
import { openFiles, type Files } from '../../../../src/platform/share/files'
import { createReplicas, type Replicas } from '../../../../src/platform/share/replicas/replicas'
import { describeContained } from '../../../support/platform/containedInstances'
import { localSpec } from '../../../support/platform/instanceSpec'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, unmount } from '../../../support/platform/tmpfs'
import { until } from '../../../support/platform/until'

const root = useTemporaryDirectory()
const dataDir = () => join(root(), 'data')
const shareDir = () => join(root(), 'share')
const contained = (name: string) => join(dataDir(), 'runtime/contained', name)
const log = pino({ level: 'silent' })
let replicas: Replicas
let files: Files
let runtime: Runtime<LocalSpec>

const open = () =>
  openContainedRuntime({
    dataDir: dataDir(),
    shareDir: shareDir(),
    programs: [],
    replicas,
    log,
    writeBack: files.writeBack,
  })

/** Runs the work while a directory of the runtime is a small disk. */
async function onSmallDisk(name: string, work: (fill: () => void, free: () => void) => Promise<void>): Promise<void> {
  const path = contained(name)
  mountTmpfs(path, '64k')
  const ballast = join(path, 'ballast')
  const fill = () => {
    try {
      writeFileSync(ballast, Buffer.alloc(2 ** 20))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
  try {
    await work(fill, () => rmSync(ballast))
  } finally {
    unmount(path)
  }
}

function spec(podName: string, script: string, change: Partial<LocalSpec> = {}): LocalSpec {
  const directory = join(shareDir(), podName)
  mkdirSync(directory, { recursive: true })
  return localSpec({ podName, command: ['sh', '-c', script], directory, ...change })
}

const find = async (podName: string) => (await runtime.list()).find((run) => run.podName === podName)
const reaches = (podName: string, state: string) =>
  until(
    () => find(podName),
    (run) => run?.state === state,
  )
const said = async (podName: string) => (await runtime.history(podName, 100)).map(({ content }) => content)
const prints = (podName: string, text: string) =>
  until(
    () => said(podName),
    (lines) => lines.some((line) => line.includes(text)),
  )

;(canMount ? describeContained : describe.skip)(
  'on a full disk of the data directory (skipped without runc, conmon, socat or mount rights)',
  () => {
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

    test('security 164: the files of "keep" are written back after an orderly stop whose exit code could not be stored', async () => {
      await onSmallDisk('exits', async (fill) => {
        const script = 'echo begun > list.txt; echo Ready; read line; echo saved >> list.txt'
        const copied = { copy: true, keep: ['list.txt'], stop: { command: 'stop', timeoutSeconds: 20 } }
        await runtime.ensure(spec('kept', script, copied))
        await prints('kept', 'Ready')
        fill()
        await runtime.stop('kept')
        await reaches('kept', 'EXITED')
        expect((await find('kept'))?.exit).toMatchObject({ code: null, requested: true, orderly: true })
        expect(readFileSync(join(shareDir(), 'kept/list.txt'), 'utf8')).toBe('begun\nsaved\n')
      })
    })

    test('security 164: after a kill nothing is written back, even if the exit code could not be stored', async () => {
      await onSmallDisk('exits', async (fill) => {
        const script = 'echo begun > list.txt; echo Ready; exec sleep 1000'
        await runtime.ensure(spec('killed', script, { copy: true, keep: ['list.txt'] }))
        await prints('killed', 'Ready')
        fill()
        await runtime.kill('killed')
        await reaches('killed', 'EXITED')
        await prints('killed', 'were not written back: that happens only after an orderly stop')
      })
    })

    test('security 165: an instance whose record cannot be stored is not started, because the next platform would end it', async () => {
      await onSmallDisk('runs', async (fill, free) => {
        fill()
        await runtime.ensure(spec('unrecorded', 'echo up; exec sleep 98764'))
        await reaches('unrecorded', 'EXITED')
        expect((await find('unrecorded'))?.exit?.failure).toMatch(/disk of the data directory is full/)
        expect(execFileSync('ps', ['-eo', 'args']).toString()).not.toContain('sleep 98764')
        free()
        await runtime.ensure(spec('unrecorded', 'echo up; exec sleep 98764'))
        const { runId } = (await find('unrecorded'))!
        await prints('unrecorded', 'up')
        await runtime.close()
        runtime = await open()
        expect(await find('unrecorded')).toMatchObject({ runId, state: 'RUNNING' })
        await runtime.kill('unrecorded')
        await reaches('unrecorded', 'EXITED')
      })
    })

    test('security 165: what could not be stored about a run is stored as soon as there is room', async () => {
      await onSmallDisk('runs', async (fill, free) => {
        await runtime.ensure(spec('ready-later', 'read line; echo Ready; exec sleep 1000', { ready: '^Ready$' }))
        fill()
        await runtime.write('ready-later', 'go')
        await reaches('ready-later', 'RUNNING')
        const stored = () => JSON.parse(readFileSync(join(contained('runs'), 'ready-later.json'), 'utf8')) as RunRecord
        expect(stored().state).toBe('STARTING')
        free()
        await until(() => stored().state === 'RUNNING')
        await runtime.kill('ready-later')
        await reaches('ready-later', 'EXITED')
      })
    })
  },
)

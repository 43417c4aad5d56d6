import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorCodeOf } from '../../errors'
import { startTimeOf } from '../../processLock'
import { killNamespace, pidNamespaceOf } from '../processes'
import { startConmon, type Monitor } from './conmon'
import { writeBundle, writeInitScript, type BundleSpec } from './containerBundle'
import type { ContainerPrograms } from './containerPrograms'

const run = promisify(execFile)

/** Longer than any runc command takes on a busy machine. */
const COMMAND_TIMEOUT_MS = 30_000

/** Creates, signals and removes containers with runc, each with its own conmon, in a directory of the platform. */
export interface Containers {
  logFile(name: string): string
  readonly exitDirectory: string
  /**
   * Creates a container whose program waits for `start`. Its output goes to the log of `name`.
   * @returns its monitor and the pid of its first process. @throws Error with runc's message, which is only for the log
   */
  create(id: string, name: string, spec: BundleSpec): Promise<{ monitor: Monitor; pid: number }>
  start(id: string): Promise<void>
  /** Whether the program of an existing container was started. True if runc cannot tell. */
  isStarted(id: string): Promise<boolean>
  /** Ids of all containers that were created and not removed. */
  list(): Promise<string[]>
  /** Signals its first process, or kills all of them. Ignores a container that has ended. */
  signal(id: string, signal: 'TERM' | 'KILL'): Promise<void>
  /** Kills what is left of a container and removes its files. Idempotent. */
  remove(id: string): Promise<void>
  /**
   * As in a shell: 128 + n for signal n. Undefined while it runs, or if it could not be recorded. @throws Node.js
   * errors such as EMFILE
   */
  exitCode(id: string): Promise<number | undefined>
  /** Whether the kernel has reported that memory ran out in it. */
  hasRunOutOfMemory(id: string): Promise<boolean>
  /** Makes conmon reopen the log file. */
  reopenLog(id: string): Promise<void>
  connectInput(id: string): ChildProcess
}

/** The pid of a container's first process; undefined if it is not known, or has ended. */
async function firstPidOf(bundle: string): Promise<number | undefined> {
  const [pid, monitor] = await Promise.all(
    ['pid', 'conmon.pid'].map(async (name) => Number(await readFile(join(bundle, name), 'utf8').catch(() => 0))),
  )
  // Another process may have the pid by now, but only conmon's child is the container.
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return status.includes(`\nPPid:\t${monitor}\n`) ? pid : undefined
}

/**
 * Signals a container's first process from this process. An instance may have used up all process ids, so that no
 * program can be started.
 * @returns false if that process is not known, or has ended
 */
async function signalWithoutRunc(bundle: string, signal: 'TERM' | 'KILL'): Promise<boolean> {
  const pid = await firstPidOf(bundle)
  try {
    return pid !== undefined && process.kill(pid, `SIG${signal}`)
  } catch {
    return false
  }
}

/** @param directory a directory of the platform on a local file system. */
export async function openContainers({
  directory,
  programs,
  isRootless,
}: {
  directory: string
  programs: ContainerPrograms
  isRootless: boolean
}): Promise<Containers> {
  const state = join(directory, 'state')
  const exitDirectory = join(directory, 'exits')
  const logs = join(directory, 'logs')
  for (const path of [directory, state, exitDirectory, logs, join(directory, 'bundles')])
    await mkdir(path, { recursive: true, mode: 0o700 })
  const initScript = await writeInitScript(directory)
  const bundleOf = (id: string) => join(directory, 'bundles', id)
  const logFile = (name: string) => join(logs, `${name}.log`)
  const runcArgs = [`--root=${state}`, ...(isRootless ? ['--rootless=true'] : [])]
  const runc = (...args: string[]) => run(programs.runc, [...runcArgs, ...args], { timeout: COMMAND_TIMEOUT_MS })

  return {
    logFile,
    exitDirectory,
    async create(id, name, spec) {
      const bundle = bundleOf(id)
      await writeBundle(bundle, initScript, spec)
      const pid = await startConmon({ ...programs, runcArgs, id, bundle, exitDirectory, logFile: logFile(name) })
      const monitorPid = Number(await readFile(join(bundle, 'conmon.pid'), 'utf8'))
      return { monitor: { pid: monitorPid, startTime: startTimeOf(monitorPid) }, pid }
    },
    list: () => readdir(join(directory, 'bundles')),
    async start(id) {
      await runc('start', id)
    },
    async isStarted(id) {
      const text = await runc('state', id).then(
        ({ stdout }) => stdout,
        () => '{}',
      )
      return (JSON.parse(text) as { status?: string }).status !== 'created'
    },
    async signal(id, signal) {
      await runc('kill', id, signal).catch(async (error: unknown) => {
        if (/not running|does not exist|process already finished|no such process/i.test(String(error))) return
        if (!(await signalWithoutRunc(bundleOf(id), signal))) throw error
      })
      // The first process ends the others, unless one of them traces it and holds it at its exit (ptrace(2)).
      const pid = signal === 'KILL' ? await firstPidOf(bundleOf(id)) : undefined
      const namespace = pid === undefined ? undefined : pidNamespaceOf(pid)
      if (namespace !== undefined) killNamespace(namespace)
    },
    async remove(id) {
      await runc('delete', '--force', id).catch((error: unknown) => {
        if (!/does not exist/i.test(String(error))) throw error
      })
      await rm(bundleOf(id), { recursive: true, force: true })
      await rm(join(exitDirectory, id), { force: true })
    },
    async exitCode(id) {
      const text = await readFile(join(exitDirectory, id), 'utf8').catch((error: unknown) => {
        if (errorCodeOf(error) !== 'ENOENT') throw error
        return ''
      })
      return /^\d+$/.test(text.trim()) ? Number(text) : undefined
    },
    hasRunOutOfMemory: (id) =>
      access(join(bundleOf(id), 'oom')).then(
        () => true,
        () => false,
      ),
    async reopenLog(id) {
      // conmon's control protocol: message 2 reopens the logs. Read-write, because a FIFO without a reader would block.
      await writeFile(join(bundleOf(id), 'ctl'), '2 0 0\n', { flag: 'r+' })
    },
    connectInput: (id) =>
      spawn(programs.socat, ['-', 'UNIX-CONNECT:attach,type=5'], {
        cwd: bundleOf(id),
        stdio: ['pipe', 'ignore', 'ignore'],
      }),
  }
}

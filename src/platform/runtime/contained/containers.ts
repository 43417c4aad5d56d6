import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, isAbsolute, join } from 'node:path'
import { promisify } from 'node:util'
import { isAlive, startTimeOf } from '../../processLock'
import { ociConfig, type ContainerSpec } from './ociConfig'

const run = promisify(execFile)

/** Longer than any of these commands takes on a busy machine. */
const COMMAND_TIMEOUT_MS = 30_000
/** Safety limit in bytes for a program that prints while no platform runs to rotate its log. */
const LOG_SIZE_MAX = 64 * 2 ** 20
/** Path of the first process in every container. */
const INIT_PATH = '/.quarterdeck-init'

/**
 * The first process of a container: forwards SIGTERM, reaps orphans and exits with the program's exit code. It is
 * needed because the kernel drops signals that the first process of a PID namespace does not handle, and most programs
 * handle none. The command is passed as arguments, never as shell code. The definition's environment can replace any
 * program in here, so nothing may depend on what this script does.
 */
const INIT = `exec 3<&0
"$@" <&3 3<&- &
program=$!
exec 3<&-
trap 'kill -TERM "$program" 2>/dev/null' TERM
wait "$program"
code=$?
# A signal interrupts wait.
while kill -0 "$program" 2>/dev/null; do
  wait "$program"
  code=$?
done
exit "$code"
`

export interface ContainerPrograms {
  runc: string
  conmon: string
  socat: string
}

/** @param path value of PATH. @returns the programs, or the names of the missing ones. */
export function findContainerPrograms(path: string): ContainerPrograms | { missing: string[] } {
  const directories = [
    ...path.split(delimiter).filter(isAbsolute),
    '/usr/local/sbin',
    '/usr/sbin',
    '/sbin',
    '/usr/local/bin',
    '/usr/bin',
    '/usr/libexec/podman',
    '/usr/lib/podman',
  ]
  const find = (program: string) => directories.map((directory) => join(directory, program)).find(isExecutable)
  const [runc, conmon, socat] = [find('runc'), find('conmon'), find('socat')]
  if (runc !== undefined && conmon !== undefined && socat !== undefined) return { runc, conmon, socat }
  return {
    missing: Object.entries({ runc, conmon, socat }).flatMap(([name, program]) =>
      program === undefined ? [name] : [],
    ),
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The conmon process of a container, which owns its input and output and records its exit code. */
export interface Monitor {
  pid: number
  /** See startTimeOf. */
  startTime: string
}

/** Creates, signals and removes containers with runc, each with its own conmon, in a directory of the platform. */
export interface Containers {
  logFile(name: string): string
  readonly exitDirectory: string
  /**
   * Creates a container, whose program waits for `start`. Its output goes to the log of `name`.
   * @returns its monitor and the pid of its first process. @throws Error with runc's message, which is only for the log
   */
  create(
    id: string,
    name: string,
    spec: Omit<ContainerSpec, 'args'> & { command: string[] },
  ): Promise<{ monitor: Monitor; pid: number }>
  start(id: string): Promise<void>
  /** Ids of all containers that were created and not removed. */
  list(): Promise<string[]>
  /** Signals its first process. Ignores a container that has ended. */
  signal(id: string, signal: 'TERM' | 'KILL'): Promise<void>
  /** Kills what is left of a container and removes its files. Idempotent. */
  remove(id: string): Promise<void>
  /** As in a shell: 128 + n for signal n. Undefined while it runs, or if it could not be recorded. */
  exitCode(id: string): Promise<number | undefined>
  /** Makes conmon reopen the log file. */
  reopenLog(id: string): Promise<void>
  connectInput(id: string): ChildProcess
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
  await writeReadable(join(directory, 'init.sh'), INIT)
  const bundleOf = (id: string) => join(directory, 'bundles', id)
  const logFile = (name: string) => join(logs, `${name}.log`)
  const runcArgs = [`--root=${state}`, ...(isRootless ? ['--rootless=true'] : [])]
  const runc = (...args: string[]) => run(programs.runc, [...runcArgs, ...args], { timeout: COMMAND_TIMEOUT_MS })

  /** Resolves with the pid from conmon's report: `{"pid": …}`, or `{"pid": -1, "message": …}` after a failure. */
  async function startConmon(id: string, name: string): Promise<number> {
    const bundle = bundleOf(id)
    const args = [
      ...[
        '--api-version',
        '1',
        '-c',
        id,
        '-u',
        id,
        '-n',
        id,
        '-r',
        programs.runc,
        ...runcArgs.map((arg) => `--runtime-arg=${arg}`),
      ],
      ...[
        '-b',
        bundle,
        '-p',
        join(bundle, 'pid'),
        '--conmon-pidfile',
        join(bundle, 'conmon.pid'),
        '--exit-dir',
        exitDirectory,
      ],
      ...[
        '-l',
        `k8s-file:${logFile(name)}`,
        '--log-size-max',
        String(LOG_SIZE_MAX),
        '--no-new-keyring',
        '--no-sync-log',
      ],
      ...['-i', '--leave-stdin-open', '--full-attach', '--socket-dir-path', bundle],
    ]
    const { PATH } = process.env
    const child = spawn(programs.conmon, args, {
      cwd: bundle,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: { PATH, _OCI_SYNCPIPE: '3' },
    })
    const [errors, sync] = [child.stderr, child.stdio[3]] as const
    let stderr = ''
    errors?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-2000)))
    errors?.on('error', () => undefined)
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const timer = setTimeout(() => reject(new Error('conmon did not answer')), COMMAND_TIMEOUT_MS)
      const end = (work: () => void) => {
        clearTimeout(timer)
        work()
      }
      child.on('error', (error) => end(() => reject(error)))
      if (!sync || !('on' in sync)) return end(() => reject(new Error('conmon has no pipe to answer on')))
      sync.on('error', () => undefined)
      sync.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        if (text.includes('\n')) end(() => resolve(text))
      })
      sync.on('close', () => end(() => resolve(text)))
    }).finally(() => {
      sync?.destroy()
      errors?.destroy()
    })
    const { pid, data, message } = JSON.parse(answer === '' ? '{}' : answer) as {
      pid?: number
      data?: number
      message?: string
    }
    const created = data ?? pid ?? -1
    if (created <= 0) throw new Error(message ?? (stderr || 'conmon ended without an answer'))
    return created
  }

  return {
    logFile,
    exitDirectory,
    async create(id, name, { command, ...spec }) {
      const bundle = bundleOf(id)
      await mkdir(bundle, { recursive: true, mode: 0o700 })
      // The root of the container; its user needs permission to enter it.
      await mkdir(join(bundle, 'rootfs'))
      await chmod(join(bundle, 'rootfs'), 0o755)
      const user = `quarterdeck:x:${spec.uid}:${spec.gid}:instance:/data:/bin/sh\n`
      const files = { passwd: `root:x:0:0:root:/:/bin/sh\n${user}`, group: `root:x:0:\nquarterdeck:x:${spec.gid}:\n` }
      for (const [file, text] of Object.entries(files)) await writeReadable(join(bundle, file), text)
      const readable = [
        ...spec.readable,
        { source: join(directory, 'init.sh'), target: INIT_PATH },
        ...Object.keys(files).map((file) => ({ source: join(bundle, file), target: `/etc/${file}` })),
      ]
      await writeFile(
        join(bundle, 'config.json'),
        JSON.stringify(ociConfig({ ...spec, readable, args: ['/bin/sh', INIT_PATH, ...command] })),
        { mode: 0o600 },
      )
      const pid = await startConmon(id, name)
      const monitorPid = Number(await readFile(join(bundle, 'conmon.pid'), 'utf8'))
      return { monitor: { pid: monitorPid, startTime: startTimeOf(monitorPid) }, pid }
    },
    list: () => readdir(join(directory, 'bundles')),
    async start(id) {
      await runc('start', id)
    },
    async signal(id, signal) {
      await runc('kill', id, signal).catch((error: unknown) => {
        if (!/not running|does not exist|process already finished|no such process/i.test(String(error))) throw error
      })
    },
    async remove(id) {
      await runc('delete', '--force', id).catch((error: unknown) => {
        if (!/does not exist/i.test(String(error))) throw error
      })
      await rm(bundleOf(id), { recursive: true, force: true })
      await rm(join(exitDirectory, id), { force: true })
    },
    async exitCode(id) {
      const text = await readFile(join(exitDirectory, id), 'utf8').catch(() => '')
      return /^\d+$/.test(text.trim()) ? Number(text) : undefined
    },
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

/** Makes a file readable for every user, independent of the umask. */
async function writeReadable(file: string, text: string): Promise<void> {
  await writeFile(file, text)
  await chmod(file, 0o644)
}

/** Whether a container's conmon still runs. */
export function isMonitorAlive({ pid, startTime }: Monitor): boolean {
  return isAlive(pid, startTime)
}

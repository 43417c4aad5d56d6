import { spawn, type ChildProcess } from 'node:child_process'
import { join, relative } from 'node:path'
import { isAlive } from '../../processLock'

/** Longer than it takes to create a container on a busy machine. */
const RESPONSE_TIMEOUT_MS = 30_000
/** Safety limit in bytes for a program that prints while no platform runs to rotate its log. */
const LOG_SIZE_MAX = 64 * 2 ** 20

/**
 * Runs a program with the default umask. runc creates the mount points of a container with the umask that it has, and
 * on a machine with a stricter one, such as 077, the user of an instance could not enter its `/etc`.
 */
const WITH_DEFAULT_UMASK = 'umask 022 && exec "$@"'

/** The conmon process of a container, which owns its input and output and records its exit code. */
export interface Monitor {
  pid: number
  /** See startTimeOf. */
  startTime: string
}

/** Whether a container's conmon still runs. */
export function isMonitorAlive({ pid, startTime }: Monitor): boolean {
  return isAlive(pid, startTime)
}

export interface ConmonParts {
  conmon: string
  runc: string
  /** Arguments that runc gets before its command. */
  runcArgs: string[]
  id: string
  /** The container's bundle, which conmon also uses for its own files. */
  bundle: string
  exitDirectory: string
  logFile: string
}

/**
 * Starts a conmon, which creates a container.
 * @returns the pid of the container's first process
 * @throws Error with runc's message, which is only for the log
 */
export async function startConmon(parts: ConmonParts): Promise<number> {
  const { PATH } = process.env
  const child = spawn('/bin/sh', ['-c', WITH_DEFAULT_UMASK, 'conmon', parts.conmon, ...argumentsOf(parts)], {
    cwd: parts.bundle,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    // Without this locale, conmon refuses paths that are not ASCII.
    env: { PATH, LC_ALL: 'C.UTF-8', _OCI_SYNCPIPE: '3' },
  })
  const errors = child.stderr
  let stderr = ''
  errors?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-2000)))
  errors?.on('error', () => undefined)
  const report = await readReport(child).finally(() => errors?.destroy())
  const { pid, data, message } = JSON.parse(report === '' ? '{}' : report) as {
    pid?: number
    data?: number
    message?: string
  }
  const created = data ?? pid ?? -1
  if (created <= 0)
    throw new Error(lastErrorIn(message ?? '') ?? message ?? (stderr || 'conmon exited without a response'))
  return created
}

/** @param log runc's, such as `time="…" level=error msg="runc create failed: …"`. @returns its last error */
export function lastErrorIn(log: string): string | undefined {
  const [, quoted] = [...log.matchAll(/level=error msg=("(?:[^"\\]|\\.)*")/g)].at(-1) ?? []
  try {
    return quoted === undefined ? undefined : String(JSON.parse(quoted))
  } catch {
    // Go escapes bytes that are not UTF-8 as `\x00`, which is not valid JSON.
    return quoted
  }
}

function argumentsOf({ runc, runcArgs, id, bundle, exitDirectory, logFile }: ConmonParts): string[] {
  return [
    ...['--api-version', '1'],
    ...['-c', id, '-u', id, '-n', id],
    ...['-r', runc, ...runcArgs.map((arg) => `--runtime-arg=${arg}`)],
    ...['-b', bundle, '-p', join(bundle, 'pid'), '--conmon-pidfile', join(bundle, 'conmon.pid')],
    ...['--exit-dir', exitDirectory],
    // Relative to its working directory, because it takes what follows another colon for something else.
    ...['-l', `k8s-file:${relative(bundle, logFile)}`, '--log-size-max', String(LOG_SIZE_MAX)],
    ...['--no-new-keyring', '--no-sync-log'],
    ...['-i', '--leave-stdin-open', '--full-attach', '--socket-dir-path', bundle],
  ]
}

/** Resolves with conmon's report: `{"pid": …}`, or `{"pid": -1, "message": …}` after a failure. */
async function readReport(child: ChildProcess): Promise<string> {
  const sync = child.stdio[3]
  return new Promise<string>((resolve, reject) => {
    let text = ''
    const timer = setTimeout(() => reject(new Error('conmon did not answer')), RESPONSE_TIMEOUT_MS)
    const end = (work: () => void) => {
      clearTimeout(timer)
      work()
    }
    child.on('error', (error) => end(() => reject(error)))
    if (!sync || !('on' in sync))
      return end(() => reject(new Error('conmon was started without a pipe for its response')))
    sync.on('error', () => undefined)
    sync.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) end(() => resolve(text))
    })
    sync.on('close', () => end(() => resolve(text)))
  }).finally(() => sync?.destroy())
}

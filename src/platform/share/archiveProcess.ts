import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { ErrorCode } from '../../contract/errors'
import { AppError } from '../errors'
import type { ArchiveSaid } from './archiveWork'
import { childProgram } from './childProgram'
import { fileFailure } from './fileFailure'
import type { JobControl } from './jobs'
import { onLines } from './lines'

const CHECK_MS = 200
/** How a shell tells of a process that called abort(3). */
const ABORTED = 134

export interface ArchiveLimits {
  /** Resident memory above which the process is ended. In bytes. */
  memory: number
  /** How long it may say nothing before it is ended. In milliseconds. */
  silence: number
}

interface ArchiveProcess {
  program: string
  args: string[]
  /** What its standard input begins with. */
  input?: string
  /** Become its descriptors 3 and up. It is given no other file, and nothing of the platform's environment. */
  descriptors: number[]
  /** Of the archive, for people. */
  name: string
  signal: AbortSignal
  limits: ArchiveLimits
  /** May return false: then nothing more is wanted, and the process is ended. One that throws is taken for a failure of the process. */
  onLine: (line: string) => boolean | void
}

/** The process ended by itself with a code (null: killed by somebody else), or was ended for a limit; 'enough' when `onLine` returned false. */
type ArchiveEnd = { code: number | null } | 'enough' | 'memory' | 'silence'

/**
 * Packs or unpacks in a process of its own: an archive may be made by anybody, and what it takes is limited and can be ended.
 * Resolves when the process is gone, so that nothing is written any more.
 * @throws the signal's reason; AppError UNAVAILABLE when there is no descriptor or memory for a process; an Error when `onLine` has thrown
 */
export async function runArchiveProcess({
  program,
  args,
  input = '',
  descriptors,
  name,
  signal,
  limits,
  onLine,
}: ArchiveProcess): Promise<ArchiveEnd> {
  // Its standard input stays open until the platform ends: then the process ends too.
  const child = spawn(process.execPath, ['--max-old-space-size=256', ...childProgram(program), ...args], {
    stdio: ['pipe', 'pipe', 'ignore', ...descriptors],
    env: {},
    signal,
    killSignal: 'SIGKILL',
  })
  let end: ArchiveEnd | undefined
  const ended = new Promise<number | null>((resolve, reject) => {
    let failure: Error | undefined
    child.once('error', (error) => {
      failure = error
      if (child.pid === undefined) reject(error)
    })
    child.once('close', (code, killedBy) => {
      // V8 aborts when its heap is full (--max-old-space-size), whatever is left of `limits.memory`.
      if (killedBy === 'SIGABRT' || code === ABORTED) end ??= 'memory'
      if (failure) reject(failure)
      else resolve(code)
    })
  })
  child.stdin?.on('error', () => undefined).write(input)
  const kill = (reason: ArchiveEnd) => {
    end ??= reason
    child.kill('SIGKILL')
  }
  let unreadable: Error | undefined
  let heardAt = performance.now()
  const watch = setInterval(() => {
    if (performance.now() - heardAt > limits.silence) kill('silence')
    void residentBytes(child.pid ?? 0).then((bytes) => {
      if (bytes > limits.memory) kill('memory')
    })
  }, CHECK_MS)
  try {
    // One that could not be started may have none.
    if (child.stdout) {
      onLines(child.stdout, (line) => {
        heardAt = performance.now()
        if (end !== undefined || signal.aborted) return
        try {
          if (onLine(line) === false) kill('enough')
        } catch (error) {
          // Nobody catches what is thrown to a stream: it would end the platform.
          unreadable = new Error(`The process for ${name} said what cannot be read`, { cause: error })
          kill('enough')
        }
      })
    }
    const code = await ended
    if (unreadable) throw unreadable
    return end ?? { code }
  } catch (error) {
    throw fileFailure(error, name)
  } finally {
    clearInterval(watch)
  }
}

interface ArchiveWork {
  /** Begins with `performArchiveWork`. */
  program: string
  /** A JSON value for the program. */
  task: unknown
  descriptors: number[]
  name: string
  control: JobControl
  limits: ArchiveLimits
}

/**
 * Runs a program that uses `performArchiveWork`, as `runArchiveProcess` does, and passes its progress on.
 * @throws the failure that it tells of: an AppError, or an error with the code of the file system
 */
export async function runArchiveWork({ task, control, ...work }: ArchiveWork): Promise<Exclude<ArchiveEnd, 'enough'>> {
  let failure: Extract<ArchiveSaid, { failure: unknown }>['failure'] | undefined
  const end = await runArchiveProcess({
    ...work,
    args: [],
    input: `${JSON.stringify(task)}\n`,
    signal: control.signal,
    onLine(line) {
      const said = JSON.parse(line) as ArchiveSaid
      if ('progress' in said) control.progress(said.progress)
      else failure = said.failure
    },
  })
  if (failure?.isExpected) throw new AppError(failure.code as ErrorCode, failure.message)
  if (failure) throw Object.assign(new Error(failure.message), { code: failure.code })
  return end as Exclude<ArchiveEnd, 'enough'>
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

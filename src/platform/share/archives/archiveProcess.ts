import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { ErrorCode } from '../../../contract/errors'
import { AppError } from '../../errors'
import type { ArchiveMessage } from './archiveTask'
import { childProgram } from '../../childProgram'
import { fileFailure } from '../fileFailure'
import type { JobControl } from '../transfers/jobs'
import { onLines } from './messageLines'

const CHECK_INTERVAL_MS = 200
/** Exit code of a process that called abort(3), as shells report it: 128 + SIGABRT. */
const SIGABRT_EXIT_CODE = 134

export interface ArchiveLimits {
  /** Resident memory in bytes above which the process is killed. */
  memoryBytes: number
  /** Timeout in milliseconds: the process is killed when it prints nothing for this long. */
  idleTimeoutMs: number
}

interface ArchiveProcess {
  program: string
  args: string[]
  /** The first bytes of its standard input. */
  input?: string
  /** Inherited as descriptors 3 and up. The process gets no other file and an empty environment. */
  descriptors: number[]
  /** Name of the archive, for error messages. */
  name: string
  signal: AbortSignal
  limits: ArchiveLimits
  /** Returning false stops the process. An exception is reported as a failure of the process. */
  onLine: (line: string) => boolean | void
}

/** `code` is null when the process was killed from outside. 'stopped' means that `onLine` returned false. */
type ArchiveEnd = { code: number | null } | 'stopped' | 'memory' | 'timeout'

/**
 * Packs or unpacks in a child process with limits, because an archive may be hostile. Resolves after the process has
 * exited.
 * @throws the signal's reason; AppError UNAVAILABLE when no process can be started; an Error when `onLine` has thrown
 */
export async function spawnArchiveProcess({
  program,
  args,
  input = '',
  descriptors,
  name,
  signal,
  limits,
  onLine,
}: ArchiveProcess): Promise<ArchiveEnd> {
  // Standard input stays open as long as the platform runs. When it closes, the child exits.
  const child = spawn(process.execPath, ['--max-old-space-size=256', ...childProgram(program), ...args], {
    stdio: ['pipe', 'pipe', 'ignore', ...descriptors],
    env: {},
    signal,
    killSignal: 'SIGKILL',
  })
  let end: ArchiveEnd | undefined
  const exited = new Promise<number | null>((resolve, reject) => {
    let failure: Error | undefined
    child.once('error', (error) => {
      failure = error
      if (child.pid === undefined) reject(error)
    })
    child.once('close', (code, killedBy) => {
      // V8 aborts when its heap is full (--max-old-space-size), even if `limits.memory` is not reached.
      if (killedBy === 'SIGABRT' || code === SIGABRT_EXIT_CODE) end ??= 'memory'
      if (failure) reject(failure)
      else resolve(code)
    })
  })
  child.stdin?.on('error', () => undefined).write(input)
  const kill = (reason: ArchiveEnd) => {
    end ??= reason
    child.kill('SIGKILL')
  }
  let invalidOutput: Error | undefined
  let lastOutputAt = performance.now()
  const limitTimer = setInterval(() => {
    if (performance.now() - lastOutputAt > limits.idleTimeoutMs) kill('timeout')
    void residentBytes(child.pid ?? 0).then((bytes) => {
      if (bytes > limits.memoryBytes) kill('memory')
    })
  }, CHECK_INTERVAL_MS)
  try {
    // A child that failed to start may have no streams.
    if (child.stdout) {
      onLines(child.stdout, (line) => {
        lastOutputAt = performance.now()
        if (end !== undefined || signal.aborted) return
        try {
          if (onLine(line) === false) kill('stopped')
        } catch (error) {
          // An exception in a stream listener would end the platform.
          invalidOutput = new Error(`The process for ${name} sent an invalid message`, { cause: error })
          kill('stopped')
        }
      })
    }
    const code = await exited
    if (invalidOutput) throw invalidOutput
    return end ?? { code }
  } catch (error) {
    throw fileFailure(error, name)
  } finally {
    clearInterval(limitTimer)
  }
}

interface ArchiveTask {
  /** Must call `serveArchiveTask`. */
  program: string
  /** Any JSON value; the program receives it as its task. */
  task: unknown
  descriptors: number[]
  name: string
  control: JobControl
  limits: ArchiveLimits
}

/**
 * Runs a program that uses `serveArchiveTask`, see `spawnArchiveProcess`, and forwards its progress to `control`.
 * @throws the failure that the program reported: an AppError, or an error with the code of the file system
 */
export async function runArchiveTask({ task, control, ...work }: ArchiveTask): Promise<Exclude<ArchiveEnd, 'stopped'>> {
  let failure: Extract<ArchiveMessage, { failure: unknown }>['failure'] | undefined
  const end = await spawnArchiveProcess({
    ...work,
    args: [],
    input: `${JSON.stringify(task)}\n`,
    signal: control.signal,
    onLine(line) {
      const message = JSON.parse(line) as ArchiveMessage
      if ('progress' in message) control.progress(message.progress)
      else failure = message.failure
    },
  })
  if (failure?.isExpected) throw new AppError(failure.code as ErrorCode, failure.message)
  if (failure) throw Object.assign(new Error(failure.message), { code: failure.code })
  return end as Exclude<ArchiveEnd, 'stopped'>
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

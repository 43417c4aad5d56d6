import { AppError, errorCodeOf } from '../../errors'
import type { JobControl } from '../transfers/jobs'
import { onLines } from './messageLines'

/**
 * Messages of the child process, one JSON value per line: progress every `PROGRESS_INTERVAL_MS`, and the reason of a
 * failure.
 */
export type ArchiveMessage =
  | { progress: { done?: number; total?: number | null; entry?: string } }
  | { failure: { code: string; message: string; isExpected: boolean } }

const PROGRESS_INTERVAL_MS = 250

/**
 * Entry point of a child process that packs or unpacks: reads one task, a line of JSON, from standard input and reports
 * on standard output. Exits with 1 after a failure, and at once when standard input closes.
 */
export function serveArchiveTask<Task>(run: (task: Task, control: JobControl) => Promise<void>): void {
  process.stdin.on('end', () => process.exit(1)).on('error', () => process.exit(1))
  process.stdout.on('error', () => process.exit(1))
  onLines(process.stdin, (line) => void perform(run, JSON.parse(line) as Task))
}

async function perform<Task>(run: (task: Task, control: JobControl) => Promise<void>, task: Task): Promise<void> {
  const send = (message: ArchiveMessage) => void process.stdout.write(`${JSON.stringify(message)}\n`)
  let progress = {}
  const progressTimer = setInterval(() => send({ progress }), PROGRESS_INTERVAL_MS)
  try {
    // This signal never aborts: the platform cancels the work by killing this process.
    await run(task, {
      signal: new AbortController().signal,
      progress: (change) => (progress = { ...progress, ...change }),
    })
    send({ progress })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    send({ failure: { code: errorCodeOf(error) ?? '', message, isExpected: error instanceof AppError } })
    process.exitCode = 1
  }
  clearInterval(progressTimer)
  process.stdin.destroy()
}

import { AppError, errorCodeOf } from '../errors'
import type { JobControl } from './jobs'
import { onLines } from './lines'

/** What a process that packs or unpacks tells the platform, as a line of JSON: how far it is, at least once a second, and why it failed. */
export type ArchiveSaid =
  | { progress: { done?: number; total?: number | null; entry?: string } }
  | { failure: { code: string; message: string; isExpected: boolean } }

const TELL_MS = 250

/**
 * The frame of a process that packs or unpacks: reads its task, a line of JSON, from the standard input, performs it and tells of it on the
 * standard output. Ends with code 1 after a failure, and at once when the platform is gone: nobody would place what is made.
 */
export function performArchiveWork<Task>(work: (task: Task, control: JobControl) => Promise<void>): void {
  process.stdin.on('end', () => process.exit(1)).on('error', () => process.exit(1))
  process.stdout.on('error', () => process.exit(1))
  onLines(process.stdin, (line) => void perform(work, JSON.parse(line) as Task))
}

async function perform<Task>(work: (task: Task, control: JobControl) => Promise<void>, task: Task): Promise<void> {
  const say = (said: ArchiveSaid) => void process.stdout.write(`${JSON.stringify(said)}\n`)
  let progress = {}
  const telling = setInterval(() => say({ progress }), TELL_MS)
  try {
    // This signal never aborts: the platform cancels the work by killing this process.
    await work(task, {
      signal: new AbortController().signal,
      progress: (change) => (progress = { ...progress, ...change }),
    })
    say({ progress })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    say({ failure: { code: errorCodeOf(error) ?? '', message, isExpected: error instanceof AppError } })
    process.exitCode = 1
  }
  clearInterval(telling)
  process.stdin.destroy()
}

import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { childProgram } from './childProgram'
import { fileFailure } from './fileFailure'
import { onLines } from './lines'

const CHECK_MS = 200

export interface ArchiveProcess {
  program: string
  args: string[]
  /** Become its descriptors 3 and up. It is given no other file, and nothing of the platform's environment. */
  descriptors: number[]
  /** Of the archive, for people. */
  name: string
  signal: AbortSignal
  /** Resident memory with which it is ended. In bytes. */
  memory: number
  /** How long it may say nothing. In milliseconds. */
  silence?: number
  /** May answer false: then nothing more is wanted, and it is ended. */
  onLine: (line: string) => boolean | void
}

/** How it ended: by itself with a code, or for what it was ended. */
export type ArchiveEnd = { code: number | null } | 'enough' | 'memory' | 'silence'

/**
 * Runs a program on an archive that somebody else made, in a process of its own: what it takes is limited and can be ended. Resolves
 * when the process is gone, so that nothing is written any more.
 * @throws the signal's reason, AppError UNAVAILABLE when there is no descriptor or memory for a process
 */
export async function runArchiveProcess({ program, args, descriptors, name, signal, memory, silence = Infinity, onLine }: ArchiveProcess): Promise<ArchiveEnd> {
  // Its standard input says nothing and ends with the platform: so does the process.
  const child = spawn(process.execPath, ['--max-old-space-size=256', ...childProgram(program), ...args], {
    stdio: ['pipe', 'pipe', 'ignore', ...descriptors],
    env: {},
    signal,
    killSignal: 'SIGKILL',
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    let failure: Error | undefined
    child.once('error', (error) => {
      failure = error
      if (child.pid === undefined) reject(error)
    })
    child.once('close', (code) => (failure ? reject(failure) : resolve(code)))
  })
  child.stdin?.on('error', () => undefined)
  let end: ArchiveEnd | undefined
  const kill = (reason: ArchiveEnd) => {
    end ??= reason
    child.kill('SIGKILL')
  }
  let heardAt = Date.now()
  const watch = setInterval(() => {
    if (Date.now() - heardAt > silence) kill('silence')
    void residentBytes(child.pid ?? 0).then((bytes) => {
      if (bytes > memory) kill('memory')
    })
  }, CHECK_MS)
  try {
    // One that could not be started may have none.
    if (child.stdout) {
      onLines(child.stdout, (line) => {
        heardAt = Date.now()
        if (end === undefined && onLine(line) === false) kill('enough')
      })
    }
    const code = await ended
    return end ?? { code }
  } catch (error) {
    throw fileFailure(error, name)
  } finally {
    clearInterval(watch)
  }
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

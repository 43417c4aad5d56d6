import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { errorCodeOf } from '../errors'
import { readOutput } from '../lineSplitter'

/** Time to read the last output after the end. */
const OUTPUT_TIMEOUT_MS = 500
/** Lines of output that are kept for the report of the end. */
const MAX_LAST_LINES = 3
/** In characters. */
const MAX_LINE_LENGTH = 500

/**
 * Which programs the kernel kills first when memory runs out (proc_pid_oom_score_adj(5)): servers of users' databases,
 * because 20 sessions of one user may take 20 GB, then instances. The platform and its state have the default of 0.
 */
export const OOM_SCORES = { usersDatabases: 700, instances: 500 } as const

export interface ProgramCommand {
  /** The program and its arguments, see `dieWithParent`. */
  command: string[]
  /** In addition to PATH. */
  env?: Record<string, string>
  /** The working directory. Missing: that of the platform. */
  directory?: string
  /** Inherited as descriptors 3 and up. */
  descriptors?: (number | 'ignore')[]
  /** Called with each line of its output. */
  onLine?: (line: string) => void
  /** What of a line is kept for the reports of its end. Missing: all of each line. */
  keptOutput?: RegExp
}

/** The end of a process. */
export interface ProgramExit {
  code: number | null
  signal: NodeJS.Signals | null
  /** The last lines of its output. */
  lastLines: string[]
}

/** A process ended before it was ready. */
export class ProgramEnded extends Error {
  constructor(
    name: string,
    readonly exit: ProgramExit,
    readonly isPortTaken: boolean,
  ) {
    const { code, signal, lastLines } = exit
    super(
      [`${name} ended (exit code ${code}, signal ${signal})`, ...(lastLines.length ? [lastLines.join('\n')] : [])].join(
        ': ',
      ),
    )
  }
}

export interface ProgramProcess {
  child: ChildProcess
  pid: number
  /**
   * Resolves when `whenReady` does, whose signal is aborted when the process has ended.
   * @throws ProgramEnded when the process ends first
   */
  waitUntilReady(whenReady: (ended: AbortSignal) => Promise<void>): Promise<void>
}

/**
 * Starts a program. Its output is logged at level debug.
 * @param name of the program, for the log and errors
 * @param onEnd called when it cannot be used any more, without `exit` after an error
 * @throws Node.js errors when the system cannot start it
 */
export async function startProcess(
  name: string,
  { command: [program = '', ...args], env, directory, descriptors = [], onLine, keptOutput = /.*/ }: ProgramCommand,
  onEnd: (exit?: ProgramExit) => void,
  log: Logger,
): Promise<ProgramProcess> {
  // A session of its own, because Ctrl-C in the terminal must reach only the platform, which ends its programs in
  // order.
  const child = spawn(program, args, {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...descriptors],
    env: { PATH: process.env.PATH, ...env },
  })
  const lastLines: string[] = []
  let exit: ProgramExit | undefined
  const endedController = new AbortController()
  const ended = new Promise<never>((_resolve, reject) => {
    const reportEnd = (error?: Error) => {
      endedController.abort()
      reject(error ?? new Error(`${name} ended`))
      onEnd(exit)
    }
    child.on('error', reportEnd)
    child.once('exit', (code, signal) => {
      exit = { code, signal, lastLines }
      reportEnd()
    })
  })
  ended.catch(() => undefined)
  // The system could not start it. The 'error' event has the reason.
  if (child.pid === undefined) return ended
  let isPortTaken = false
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    readOutput(stream, (line) => {
      log.debug({ [name]: line }, name)
      isPortTaken ||= /address already in use/i.test(line)
      const [kept] = keptOutput.exec(line) ?? []
      if (kept !== undefined && lastLines.push(kept.slice(0, MAX_LINE_LENGTH)) > MAX_LAST_LINES) lastLines.shift()
      onLine?.(line)
    })
  }
  const closed = once(child, 'close')

  return {
    child,
    pid: child.pid,
    async waitUntilReady(whenReady) {
      try {
        await Promise.race([whenReady(endedController.signal), ended])
      } catch (error) {
        if (!exit) throw error
        await Promise.race([closed, delay(OUTPUT_TIMEOUT_MS)])
        throw new ProgramEnded(name, exit, isPortTaken)
      }
    },
  }
}

/**
 * Ends a process. Resolves when it has ended.
 * @param signal for an orderly end
 * @param killAfterMs how long that may take before it is killed; undefined: any time
 * @param killSignal what kills it
 */
export async function terminate(
  child: ChildProcess,
  signal: NodeJS.Signals,
  killAfterMs?: number,
  killSignal: NodeJS.Signals = 'SIGKILL',
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  const killTimer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill(killSignal), killAfterMs)
  await exited
  clearTimeout(killTimer)
}

let hasSetpriv: boolean | undefined

/**
 * Returns the beginning of a command whose program gets a signal when the platform dies. Empty where the system does
 * not support it (util-linux).
 */
export function dieWithParent(signal: 'INT' | 'TERM'): string[] {
  if (hasSetpriv === undefined) {
    const { status, error } = spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true'])
    // A temporary failure to spawn says nothing about the next time.
    if (error && errorCodeOf(error) !== 'ENOENT') return []
    hasSetpriv = status === 0
  }
  return hasSetpriv ? ['setpriv', '--pdeathsig', signal] : []
}

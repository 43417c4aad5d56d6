import type { ChildProcess } from 'node:child_process'
import type { Logger } from 'pino'
import { ProgramEnded, startProcess, terminate, type ProgramCommand, type ProgramExit } from './programProcess'

/** A program that ran for this long resets the back-off. */
const BACK_OFF_RESET_MS = 60_000
/** Attempts to start with other ports, when another program takes the port first. */
const MAX_PORT_TRIES = 5

export interface Program {
  /** For the log. */
  name: string
  /**
   * Called before each start of the process.
   * @param tries 1, or more when another program took the port of the try before: choose another port
   */
  prepare(tries: number): Promise<ProgramCommand>
  /** Resolves when the process is ready. Must give up after a time or after its end. */
  whenReady(pid: number, ended: AbortSignal): Promise<void>
  /** Called after every end. */
  onEnd?(): void
  /** For an orderly end. */
  stopSignal: NodeJS.Signals
  /** How long an orderly end may take before the process is killed. Missing: any time. */
  stopTimeoutMs?: number
  /** What kills it then. Missing: SIGKILL. */
  killSignal?: NodeJS.Signals
  /** Exponential back-off between restarts. */
  backOff: { firstMs: number; lastMs: number }
}

export interface Supervisor {
  /** The pid of the latest process. */
  pid(): number | undefined
  /**
   * Resolves when the program is ready, at once if it is. From then on it is restarted with back-off when it ends.
   * @param retries whether a failure of this start is followed by further starts
   * @throws the reason of a failure: ProgramEnded, what `prepare` or `whenReady` throw, Node.js errors
   */
  start(retries: boolean): Promise<void>
  /** Resolves when it has ended. */
  stop(): Promise<void>
}

/**
 * Creates the supervisor of a program, without starting it. The output of the program is logged at level debug, and its
 * last lines again when it ends.
 */
export function supervise(program: Program, log: Logger): Supervisor {
  const { name, stopSignal, stopTimeoutMs, killSignal } = program
  let isWanted = false
  let isUp = false
  let pid: number | undefined
  let child: ChildProcess | undefined
  let starting: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let backOff = program.backOff.firstMs

  async function run(tries: number): Promise<void> {
    const command = await program.prepare(tries)
    const startedAt = performance.now()
    const started = await startProcess(
      name,
      command,
      (exit) => {
        child = undefined
        if (exit) onExit(exit, startedAt)
      },
      log,
    )
    ;({ child, pid } = started)
    await started.waitUntilReady((ended) => program.whenReady(started.pid, ended))
    isUp = true
  }

  /** Another program may take the port between its choice and the start. */
  async function retryOtherPorts(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await run(tries)
      } catch (error) {
        if (!(error instanceof ProgramEnded && error.isPortTaken) || tries === MAX_PORT_TRIES || !isWanted) throw error
      }
    }
  }

  function onExit({ code, signal, lastLines }: ProgramExit, startedAt: number): void {
    program.onEnd?.()
    // A failed start is retried where it failed.
    if (!isUp) return
    isUp = false
    if (!isWanted) return
    if (performance.now() - startedAt > BACK_OFF_RESET_MS) backOff = program.backOff.firstMs
    log.error({ code, signal, lastLines, againInMs: backOff }, `${name} ended; restarting it`)
    scheduleRestart()
  }

  function scheduleRestart(): void {
    clearTimeout(timer)
    timer = setTimeout(() => void start(true).catch(() => undefined), backOff)
    backOff = Math.min(2 * backOff, program.backOff.lastMs)
  }

  async function endChild(): Promise<void> {
    if (child) await terminate(child, stopSignal, stopTimeoutMs, killSignal)
  }

  async function start(retries: boolean): Promise<void> {
    isWanted = true
    if (isUp) return
    clearTimeout(timer)
    starting ??= retryOtherPorts()
      .catch(async (error: unknown) => {
        const isRetried = () => isWanted && retries
        if (isRetried()) log.error({ err: error, againInMs: backOff }, `failed to start ${name}`)
        // The program may run without being ready.
        await endChild()
        if (isRetried()) scheduleRestart()
        throw error
      })
      .finally(() => (starting = undefined))
    return starting
  }

  return {
    pid: () => pid,
    start,
    async stop() {
      isWanted = false
      clearTimeout(timer)
      await endChild()
      await starting?.catch(() => undefined)
      // A start may have been in progress.
      await endChild()
      backOff = program.backOff.firstMs
    },
  }
}

import { randomInt } from 'node:crypto'
import type { ChildProcess } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Logger } from 'pino'
import { AppError } from '../../errors'
import { endRecordedProcess, writePidFile } from './pidFile'
import { createProgramPort } from './programPort'
import { PortTaken, startProcess, terminate, type ProgramExit } from './programProcess'

/** Exponential back-off between restarts. */
const FIRST_BACK_OFF_MS = 1000
const LAST_BACK_OFF_MS = 60_000
/** A program that ran for this long resets the back-off. */
const BACK_OFF_RESET_MS = 60_000
/** Attempts with other ports when another program takes the port first. */
const PORT_TRIES = 5

export interface Program {
  path: string
  /** The working directory with its port and pid files. Created if missing, accessible only to us. */
  directory: string
  /** The first port to try at the first start. */
  firstPort: number
  /** Ports that the platform's other programs have or will use. */
  claimed: Set<number>
  /** How long an orderly end may take before the program is killed. */
  stopTimeoutMs: number
  /** Called before each start. */
  prepare(port: number): Promise<{ args: string[]; env?: Record<string, string> }>
  /** Resolves when the program, and no other, is ready on the port. Must give up after a time or after its end. */
  whenReady(port: number, ended: AbortSignal): Promise<void>
  /** Called after every end. */
  onEnd?(): void
}

/** A server program that ends with the platform, even if the platform is killed. */
export interface Supervised {
  /** On 127.0.0.1. Stored in its directory, and changed when another program uses it. */
  port(): Promise<number>
  /** Resolves when it is ready. Restarted with back-off when it ends or fails to start. @throws AppError UNAVAILABLE */
  start(): Promise<void>
  /** Resolves when it has ended. */
  stop(): Promise<void>
  /** Releases the port of a stopped program that will not be started again. */
  releasePort(): void
}

/** Does not start the program yet. Its output is logged at level debug, the last lines again with its end. */
export function supervise(program: Program, log: Logger): Supervised {
  const { path, directory, claimed, firstPort, stopTimeoutMs } = program
  const name = basename(path)
  const pidFile = join(directory, 'pid')
  const programPort = createProgramPort({ name, file: join(directory, 'port'), firstPort, claimed, log })
  let wanted = false
  let isUp = false
  let child: ChildProcess | undefined
  let starting: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let backOff = FIRST_BACK_OFF_MS

  async function run(from: number): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await endRecordedProcess(pidFile, stopTimeoutMs)
    const port = await programPort.choose(from)
    const { args, env } = await program.prepare(port)
    const startedAt = Date.now()
    const started = await startProcess(
      { path, args, env, directory },
      (exit) => {
        child = undefined
        if (exit) onExit(exit, startedAt)
      },
      log,
    )
    child = started.child
    await writePidFile(pidFile, started.pid)
    await started.waitUntilReady(port, (ended) => program.whenReady(port, ended))
    isUp = true
  }

  function onExit({ code, signal, said }: ProgramExit, startedAt: number): void {
    program.onEnd?.()
    // The caller of a failed start retries it.
    if (!isUp) return
    isUp = false
    if (!wanted) return
    if (Date.now() - startedAt > BACK_OFF_RESET_MS) backOff = FIRST_BACK_OFF_MS
    log.error({ code, signal, said, againInMs: backOff }, `${name} ended; restarting it`)
    scheduleRestart()
  }

  function scheduleRestart(): void {
    clearTimeout(timer)
    timer = setTimeout(() => void supervised.start().catch(() => undefined), backOff)
    backOff = Math.min(2 * backOff, LAST_BACK_OFF_MS)
  }

  async function endChild(): Promise<void> {
    if (child) await terminate(child, stopTimeoutMs)
  }

  const supervised: Supervised = {
    port: () => programPort.current(),

    async start() {
      wanted = true
      if (isUp) return
      clearTimeout(timer)
      starting ??= retryOtherPorts(firstPort, run, () => wanted)
        .catch(async (error: unknown) => {
          log.error({ err: error, againInMs: backOff }, `failed to start ${name}`)
          // The program may run without being ready.
          await endChild()
          if (wanted) scheduleRestart()
          throw new AppError(
            'UNAVAILABLE',
            `The MongoDB server (${name}) could not be started. The platform retries it; see its log for the reason.`,
          )
        })
        .finally(() => (starting = undefined))
      return starting
    },

    async stop() {
      wanted = false
      clearTimeout(timer)
      await endChild()
      await starting?.catch(() => undefined)
      // A start may have been in progress.
      await endChild()
      await endRecordedProcess(pidFile, stopTimeoutMs)
      backOff = FIRST_BACK_OFF_MS
    },

    releasePort: () => programPort.release(),
  }
  return supervised
}

/** Another program may take the port between the check and the start. */
async function retryOtherPorts(
  firstPort: number,
  run: (from: number) => Promise<void>,
  isWanted: () => boolean,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      // A random distance: another program that lost the same port would also try the next one.
      return await run(firstPort + (tries === 1 ? 0 : randomInt(1, 100)))
    } catch (error) {
      if (!(error instanceof PortTaken) || tries === PORT_TRIES || !isWanted()) throw error
    }
  }
}

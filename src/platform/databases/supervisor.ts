import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../errors'
import { isAlive, startTimeOf } from '../processLock'
import { freePort, isFreePort } from '../postgres/freePort'

/** Exponential back-off between restarts. */
const FIRST_BACK_OFF_MS = 1000
const LAST_BACK_OFF_MS = 60_000
/** A program that ran for this long resets the back-off. */
const BACK_OFF_RESET_MS = 60_000
/** Attempts with other ports when another program takes the port first. */
const PORT_TRIES = 5
/** Time to read the last output after the end. */
const OUTPUT_TIMEOUT_MS = 500
/** Lines of output that are logged with the end. */
const LAST_LINES = 3

class PortTaken extends Error {}

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
  const { path, directory, claimed, stopTimeoutMs } = program
  const name = basename(path)
  const pidFile = join(directory, 'pid')
  const portFile = join(directory, 'port')
  let wanted = false
  let isUp = false
  let child: ChildProcess | undefined
  let starting: Promise<void> | undefined
  let port: Promise<number> | undefined
  let claim: number | undefined
  let timer: NodeJS.Timeout | undefined
  let backOff = FIRST_BACK_OFF_MS

  /** Ends a process that a killed platform left behind, or that is still ending. */
  async function endPreviousProcess(): Promise<void> {
    const [text = '', startTime = ''] = (await readFile(pidFile, 'utf8').catch(() => '')).split(' ')
    const pid = Number(text)
    // Without a start time (no /proc) the pid may belong to another process by now.
    const lives = () => pid > 0 && startTime !== '' && isAlive(pid, startTime)
    for (let waited = 0; lives(); waited += 50) {
      if (waited === 0) kill(pid, 'SIGTERM')
      if (waited >= stopTimeoutMs) kill(pid, 'SIGKILL')
      await delay(50)
    }
    await rm(pidFile, { force: true })
  }

  /** @param from where to search for another port */
  async function choosePort(from: number): Promise<number> {
    const kept = Number(await readFile(portFile, 'utf8').catch(() => ''))
    if (kept > 0 && (kept === claim || !claimed.has(kept)) && (await isFreePort(kept))) return claimPort(kept)
    let chosen = await freePort(from)
    while (claimed.has(chosen)) chosen = await freePort(chosen + 1)
    claimPort(chosen)
    await writeFile(`${portFile}.new`, String(chosen))
    await rename(`${portFile}.new`, portFile)
    if (kept > 0) log.warn({ port: kept, now: chosen }, `port ${kept} of ${name} is in use; it moves to ${chosen}`)
    return chosen
  }

  function claimPort(chosen: number): number {
    releasePort()
    claimed.add(chosen)
    return (claim = chosen)
  }

  function releasePort(): void {
    if (claim !== undefined) claimed.delete(claim)
    claim = undefined
  }

  /** Another program may take the port between the check and the start. */
  async function runOnFreePort(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        // A random distance: another program that lost the same port would also try the next one.
        return await run(program.firstPort + (tries === 1 ? 0 : randomInt(1, 100)))
      } catch (error) {
        if (!(error instanceof PortTaken) || tries === PORT_TRIES || !wanted) throw error
      }
    }
  }

  async function run(from: number): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await endPreviousProcess()
    const at = await (port = choosePort(from))
    const { args, env } = await program.prepare(at)
    const [command = path, ...rest] = [...dieWithParentPrefix(), path, ...args]
    // A session of its own, because Ctrl-C in the terminal must reach only the platform, which ends its programs in
    // order.
    const started = spawn(command, rest, {
      cwd: directory,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...env },
    })
    const startedAt = Date.now()
    const said: string[] = []
    const endedController = new AbortController()
    const ended = new Promise<never>((_resolve, reject) => {
      const over = (error: Error) => {
        child = undefined
        endedController.abort()
        reject(error)
      }
      started.on('error', over)
      started.once('exit', (code, signal) => {
        over(new Error(`${name} ended (exit code ${code}, signal ${signal})`))
        program.onEnd?.()
        // The caller of a failed start retries it.
        if (!isUp) return
        isUp = false
        if (!wanted) return
        if (Date.now() - startedAt > BACK_OFF_RESET_MS) backOff = FIRST_BACK_OFF_MS
        log.error({ code, signal, said, againInMs: backOff }, `${name} ended and is started again`)
        scheduleRestart()
      })
    })
    ended.catch(() => undefined)
    // The system could not start it. The 'error' event has the reason.
    if (started.pid === undefined) return ended
    child = started
    let isPortTaken = false
    for (const stream of [started.stdout, started.stderr]) {
      createInterface(stream).on('line', (line) => {
        log.debug({ [name]: line }, name)
        if (said.push(line.slice(0, 500)) > LAST_LINES) said.shift()
        isPortTaken ||= /address already in use/i.test(line)
      })
    }
    const silent = once(started, 'close')
    await writeFile(pidFile, `${started.pid} ${startTimeOf(started.pid)}`)
    try {
      await Promise.race([program.whenReady(at, endedController.signal), ended])
    } catch (error) {
      if (!endedController.signal.aborted) throw error
      await Promise.race([silent, delay(OUTPUT_TIMEOUT_MS)])
      if (isPortTaken) throw new PortTaken(`${name} ended because port ${at} is in use`)
      throw said.length > 0 && error instanceof Error ? new Error([error.message, said.join('\n')].join(': ')) : error
    }
    isUp = true
  }

  function scheduleRestart(): void {
    clearTimeout(timer)
    timer = setTimeout(() => void supervised.start().catch(() => undefined), backOff)
    backOff = Math.min(2 * backOff, LAST_BACK_OFF_MS)
  }

  async function terminate(): Promise<void> {
    const running = child
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const exited = once(running, 'exit')
    running.kill('SIGTERM')
    const killTimer = setTimeout(() => running.kill('SIGKILL'), stopTimeoutMs)
    await exited
    clearTimeout(killTimer)
  }

  const supervised: Supervised = {
    async port() {
      // A port that could not be chosen is chosen at the next start, which reports the reason.
      const chosen = await port?.catch(() => undefined)
      return chosen ?? (Number(await readFile(portFile, 'utf8').catch(() => '')) || program.firstPort)
    },

    async start() {
      wanted = true
      if (isUp) return
      clearTimeout(timer)
      starting ??= runOnFreePort()
        .catch(async (error: unknown) => {
          log.error({ err: error, againInMs: backOff }, `${name} could not be started`)
          // It may run without being ready.
          await terminate()
          if (wanted) scheduleRestart()
          throw new AppError(
            'UNAVAILABLE',
            `The MongoDB server (${name}) could not be started. It is tried again; the log says why.`,
          )
        })
        .finally(() => (starting = undefined))
      return starting
    },

    async stop() {
      wanted = false
      clearTimeout(timer)
      await terminate()
      await starting?.catch(() => undefined)
      // A start may have been in progress.
      await terminate()
      await endPreviousProcess()
      backOff = FIRST_BACK_OFF_MS
    },

    releasePort,
  }
  return supervised
}

let prefix: string[] | undefined

/** A prefix that makes a program end with the platform, where the system supports it (util-linux). */
function dieWithParentPrefix(): string[] {
  if (prefix) return prefix
  const { status, error } = spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true'])
  const found = status === 0 ? ['setpriv', '--pdeathsig', 'TERM'] : []
  // A temporary failure to spawn says nothing about the next time.
  if (!error || errorCodeOf(error) === 'ENOENT') prefix = found
  return found
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended in the meantime.
  }
}

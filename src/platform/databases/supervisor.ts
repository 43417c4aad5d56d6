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
import { freePort, isFreePort } from '../state/freePort'

/** Waits between starts of a program that ends by itself, doubling. In milliseconds. */
const FIRST_BACK_OFF_MS = 1000
const LAST_BACK_OFF_MS = 60_000
/** Who has run this long begins again with the first wait. */
const STEADY_MS = 60_000
/** How often it is tried with another port where somebody else was quicker. */
const PORT_TRIES = 5
/** The last it has printed is read within this after its end. In milliseconds. */
const OUTPUT_MS = 500
/** What is told of that, where it says why it ended. */
const LAST_LINES = 3

class PortTaken extends Error {}

export interface Program {
  path: string
  /** Where it works, its port and pid are kept. Made when missing; for nobody but us. */
  directory: string
  /** The first port to try where it has none yet. */
  firstPort: number
  /** Ports that other programs of ours have or are about to take. */
  claimed: Set<number>
  /** An orderly end may take this long; then it is killed. In milliseconds. */
  patienceMs: number
  /** Before each start. */
  prepare(port: number): Promise<{ args: string[]; env?: Record<string, string> }>
  /** Resolves once what listens on the port is the program and is of use; must give up by itself, and when it has ended. */
  whenReady(port: number, ended: AbortSignal): Promise<void>
  /** It has ended, by itself or not. */
  onEnd?(): void
}

/** A server program that belongs to the platform: it ends with it, even when the platform is killed. */
export interface Supervised {
  /** On 127.0.0.1. Kept in its directory; another one when somebody else has taken it. */
  port(): Promise<number>
  /** Resolves when it is up. It is started again, later and later, when it ends or does not come up. @throws AppError UNAVAILABLE */
  start(): Promise<void>
  /** Resolves when it has ended. */
  stop(): Promise<void>
  /** Others may have its port. For one that is stopped and will not be started again; until then it is kept for it. */
  giveUpPort(): void
}

/** Runs nothing yet: `start` does. What the program prints is logged at level debug, the last of it with its end. */
export function supervise(program: Program, log: Logger): Supervised {
  const { path, directory, claimed, patienceMs } = program
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

  /** One that a killed platform has left, where it could not be made to end with it, or that is still ending. */
  async function endForerunner(): Promise<void> {
    const [text = '', startTime = ''] = (await readFile(pidFile, 'utf8').catch(() => '')).split(' ')
    const pid = Number(text)
    // Without a start time (no /proc) the number may be anybody's by now.
    const lives = () => pid > 0 && startTime !== '' && isAlive(pid, startTime)
    for (let waited = 0; lives(); waited += 50) {
      if (waited === 0) kill(pid, 'SIGTERM')
      if (waited >= patienceMs) kill(pid, 'SIGKILL')
      await delay(50)
    }
    await rm(pidFile, { force: true })
  }

  /** @param from where to look for another one. */
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
    giveUpPort()
    claimed.add(chosen)
    return (claim = chosen)
  }

  function giveUpPort(): void {
    if (claim !== undefined) claimed.delete(claim)
    claim = undefined
  }

  /** Between the look for a free port and the program's own start somebody else may take it. */
  async function runOnFreePort(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        // Not the very next one: whoever took it at the same time looks there too.
        return await run(program.firstPort + (tries === 1 ? 0 : randomInt(1, 100)))
      } catch (error) {
        if (!(error instanceof PortTaken) || tries === PORT_TRIES || !wanted) throw error
      }
    }
  }

  async function run(from: number): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await endForerunner()
    const at = await (port = choosePort(from))
    const { args, env } = await program.prepare(at)
    const [command = path, ...rest] = [...endsWithUs(), path, ...args]
    // A session of its own: Ctrl-C in the terminal must reach the platform alone, which ends its programs in order.
    const started = spawn(command, rest, {
      cwd: directory,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...env },
    })
    const startedAt = Date.now()
    const said: string[] = []
    const gone = new AbortController()
    const ended = new Promise<never>((_resolve, reject) => {
      const over = (error: Error) => {
        child = undefined
        gone.abort()
        reject(error)
      }
      started.on('error', over)
      started.once('exit', (code, signal) => {
        over(new Error(`${name} ended (exit code ${code}, signal ${signal})`))
        program.onEnd?.()
        // A start that did not come about is tried again by who made it.
        if (!isUp) return
        isUp = false
        if (!wanted) return
        if (Date.now() - startedAt > STEADY_MS) backOff = FIRST_BACK_OFF_MS
        log.error({ code, signal, said, againInMs: backOff }, `${name} ended and is started again`)
        again()
      })
    })
    ended.catch(() => undefined)
    // Where the system could not start it; 'error' says why.
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
      await Promise.race([program.whenReady(at, gone.signal), ended])
    } catch (error) {
      if (!gone.signal.aborted) throw error
      await Promise.race([silent, delay(OUTPUT_MS)])
      if (isPortTaken) throw new PortTaken(`${name} ended because port ${at} is in use`)
      throw said.length > 0 && error instanceof Error ? new Error([error.message, said.join('\n')].join(': ')) : error
    }
    isUp = true
  }

  function again(): void {
    clearTimeout(timer)
    timer = setTimeout(() => void supervised.start().catch(() => undefined), backOff)
    backOff = Math.min(2 * backOff, LAST_BACK_OFF_MS)
  }

  async function end(): Promise<void> {
    const running = child
    if (!running || running.exitCode !== null || running.signalCode !== null) return
    const exited = once(running, 'exit')
    running.kill('SIGTERM')
    const patience = setTimeout(() => running.kill('SIGKILL'), patienceMs)
    await exited
    clearTimeout(patience)
  }

  const supervised: Supervised = {
    async port() {
      // One that could not be chosen is tried again with the next start, which says why.
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
          // One that runs and does not answer is ended first.
          await end()
          if (wanted) again()
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
      await end()
      await starting?.catch(() => undefined)
      // One that was about to be started meanwhile.
      await end()
      await endForerunner()
      backOff = FIRST_BACK_OFF_MS
    },

    giveUpPort,
  }
  return supervised
}

let prefix: string[] | undefined

/** Makes a program end when the platform does, however that ends, where the system can (util-linux). */
function endsWithUs(): string[] {
  if (prefix) return prefix
  const { status, error } = spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true'])
  const found = status === 0 ? ['setpriv', '--pdeathsig', 'TERM'] : []
  // That it could not be asked just now says nothing about the next time.
  if (!error || errorCodeOf(error) === 'ENOENT') prefix = found
  return found
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended meanwhile.
  }
}

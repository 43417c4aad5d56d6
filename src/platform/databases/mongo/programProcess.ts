import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { errorCodeOf } from '../../errors'
import { readOutput } from '../../lineSplitter'

/** Time to read the last output after the end. */
const OUTPUT_TIMEOUT_MS = 500
/** Lines of output that are kept. */
const LAST_LINES = 3

export class PortTaken extends Error {}

export interface ProgramCommand {
  path: string
  args: string[]
  env?: Record<string, string>
  /** The working directory. */
  directory: string
}

/** The end of a process. */
export interface ProgramExit {
  code: number | null
  signal: NodeJS.Signals | null
  /** The last lines of its output. */
  said: string[]
}

export interface ProgramProcess {
  child: ChildProcess
  pid: number
  /**
   * Resolves when `whenReady` does. @param endedSignal is aborted when the process has ended
   * @throws PortTaken, or an Error with the last lines of output, when the process ends first
   */
  waitUntilReady(port: number, whenReady: (endedSignal: AbortSignal) => Promise<void>): Promise<void>
}

/**
 * Starts a program that ends with the platform, even if the platform is killed. Its output is logged at level debug.
 * @param onEnd called when it cannot be used any more, without `exit` after an error
 * @throws Node.js errors when the system cannot start it
 */
export async function startProcess(
  { path, args, env, directory }: ProgramCommand,
  onEnd: (exit?: ProgramExit) => void,
  log: Logger,
): Promise<ProgramProcess> {
  const name = basename(path)
  const [command = path, ...rest] = [...dieWithParentPrefix(), path, ...args]
  // A session of its own, because Ctrl-C in the terminal must reach only the platform, which ends its programs in
  // order.
  const child = spawn(command, rest, {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ...env },
  })
  const said: string[] = []
  const endedController = new AbortController()
  const ended = new Promise<never>((_resolve, reject) => {
    const over = (error: Error, exit?: ProgramExit) => {
      endedController.abort()
      reject(error)
      onEnd(exit)
    }
    child.on('error', (error) => over(error))
    child.once('exit', (code, signal) =>
      over(new Error(`${name} ended (exit code ${code}, signal ${signal})`), { code, signal, said }),
    )
  })
  ended.catch(() => undefined)
  // The system could not start it. The 'error' event has the reason.
  if (child.pid === undefined) return ended
  let isPortTaken = false
  for (const stream of [child.stdout, child.stderr]) {
    readOutput(stream, (line) => {
      log.debug({ [name]: line }, name)
      if (said.push(line.slice(0, 500)) > LAST_LINES) said.shift()
      isPortTaken ||= /address already in use/i.test(line)
    })
  }
  const closed = once(child, 'close')

  return {
    child,
    pid: child.pid,
    async waitUntilReady(port, whenReady) {
      try {
        await Promise.race([whenReady(endedController.signal), ended])
      } catch (error) {
        if (!endedController.signal.aborted) throw error
        await Promise.race([closed, delay(OUTPUT_TIMEOUT_MS)])
        if (isPortTaken) throw new PortTaken(`${name} ended because port ${port} is in use`)
        throw said.length > 0 && error instanceof Error ? new Error([error.message, said.join('\n')].join(': ')) : error
      }
    },
  }
}

/** Resolves when it has ended. @param killAfterMs how long an orderly end may take before it is killed */
export async function terminate(child: ChildProcess, killAfterMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const killTimer = setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  await exited
  clearTimeout(killTimer)
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

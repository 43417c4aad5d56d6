import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, errorCodeOf, StartError } from '../../errors'
import { childProgram } from '../../share/childProgram'
import type { ConsoleLine } from '../runtime'
import {
  linesOf,
  onLines,
  PROTOCOL_VERSION,
  sendLine,
  type CallName,
  type HostCalls,
  type HostMessage,
} from './hostProtocol'

/** The longest path that every system's unix sockets take, with room for its end (unix(7)). */
const SOCKET_PATH_LIMIT = 100
const START_TIMEOUT_MS = 10_000
/** How long a host that is there may take to say who it is. In milliseconds. */
const HELLO_MS = 30_000
/** Waits between starts of a host that ends at once, doubling. In milliseconds. */
const FIRST_BACK_OFF_MS = 100

type Answer<Name extends CallName> = Awaited<ReturnType<HostCalls[Name]>>

interface Waiting {
  resolve: (result: unknown) => void
  reject: (error: Error) => void
  /** What came of the answer so far, where it is lines. */
  pieces: ConsoleLine[][]
}

export interface HostListener {
  /** An instance's state is another one. */
  changed(): void
  lines(podName: string, lines: ConsoleLine[]): void
  closed(): void
}

/** A connection to the host of a data directory. */
export class HostClient {
  private readonly waiting = new Map<number, Waiting>()
  private nextId = 1
  /** How the host enforces limits, for people. */
  limits = ''
  /** Which limits the host enforces. */
  enforced = { cpu: false, memory: false }
  /** Once it is known to be one of ours. */
  private listener: Partial<HostListener> = {}

  private constructor(
    private readonly socket: Socket,
    private readonly log: string,
  ) {
    onLines(socket, (line) => {
      const message = line as HostMessage
      if ('event' in message)
        return message.event === 'changed'
          ? this.listener.changed?.()
          : this.listener.lines?.(message.podName, linesOf(message))
      const waiting = this.waiting.get(message.id)
      if ('piece' in message) return void waiting?.pieces.push(message.piece)
      this.waiting.delete(message.id)
      if ('error' in message) waiting?.reject(new Error(message.error))
      else
        waiting?.resolve(
          waiting.pieces.length > 0 ? [...waiting.pieces, message.result as ConsoleLine[]].flat() : message.result,
        )
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      for (const { reject } of this.waiting.values()) reject(hostGone())
      this.waiting.clear()
      this.listener.closed?.()
    })
  }

  /** Connects to a host that is there. */
  static async connect(dataDir: string): Promise<HostClient | undefined> {
    const socket = connect(socketPathOf(dataDir))
    const connected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    return connected ? new HostClient(socket, hostLogOf(dataDir)) : undefined
  }

  /**
   * Connects to the host; starts one where there is none, and again where it ended at once: its forerunner may have been
   * ending still, or the machine was short of something for a moment.
   * @param helloMs how long one that is there may take to answer, for tests.
   * @throws StartError when it does not start, does not answer, or is of another version.
   */
  static async open(dataDir: string, listener: HostListener, helloMs = HELLO_MS): Promise<HostClient> {
    let client = await HostClient.greet(dataDir, listener, helloMs)
    let host: StartingHost = { hasEnded: true }
    let [startAt, backOff] = [0, FIRST_BACK_OFF_MS]
    for (const deadline = performance.now() + START_TIMEOUT_MS; !client && performance.now() < deadline;) {
      if (host.hasEnded && performance.now() >= startAt) {
        host = startHost(dataDir)
        startAt = performance.now() + backOff
        backOff *= 2
      }
      await delay(20)
      client = await HostClient.greet(dataDir, listener, helloMs)
    }
    if (!client) throw new StartError([`The process that hosts the instances did not start; see ${hostLogOf(dataDir)}`])
    return client
  }

  /** @returns undefined also when the host ends before it has said who it is. */
  private static async greet(
    dataDir: string,
    listener: HostListener,
    helloMs: number,
  ): Promise<HostClient | undefined> {
    const client = await HostClient.connect(dataDir)
    const hello = await client?.hello(helloMs)
    if (!client || !hello) return undefined
    client.limits = hello.limits
    client.enforced = hello.enforced
    if (hello.version !== PROTOCOL_VERSION) {
      client.close()
      throw new StartError([
        'The instances run under a host of another version: end them with `npm run stop:all` and start again',
      ])
    }
    client.listener = listener
    return client
  }

  /**
   * Asks the host who it is; without an answer the connection is closed.
   * @returns undefined when it has ended.
   * @throws StartError when it does not answer in time.
   */
  async hello(withinMs = HELLO_MS): Promise<Answer<'hello'> | undefined> {
    let isSilent = false
    const timer = setTimeout(() => {
      isSilent = true
      this.close()
    }, withinMs)
    const hello = await this.call('hello').catch(() => undefined)
    clearTimeout(timer)
    if (isSilent)
      throw new StartError([
        `The process that hosts the instances does not answer; see ${this.log}. If it stands still, end it: the next one stops its instances in order`,
      ])
    if (!hello) this.close()
    return hello
  }

  get isOpen(): boolean {
    return !this.socket.destroyed
  }

  call<Name extends CallName>(call: Name, ...args: Parameters<HostCalls[Name]>): Promise<Answer<Name>> {
    if (!this.isOpen) return Promise.reject(hostGone())
    const id = this.nextId++
    return new Promise<Answer<Name>>((resolve, reject) => {
      this.waiting.set(id, { resolve: (result) => resolve(result as Answer<Name>), reject, pieces: [] })
      sendLine(this.socket, { id, call, args })
    })
  }

  close(): void {
    this.socket.destroy()
  }
}

function hostGone(): AppError {
  return new AppError(
    'UNAVAILABLE',
    'The process that runs the instances has ended and is started again. Try again in a moment.',
  )
}

interface StartingHost {
  /** Also when it could not even begin. */
  hasEnded: boolean
}

function startHost(dataDir: string): StartingHost {
  const directory = instancesDirectory(dataDir)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  let log: number
  try {
    log = openSync(hostLogOf(dataDir), 'a', 0o600)
  } catch (error) {
    if (isShortage(error)) return { hasEnded: true }
    throw error
  }
  const { PATH, LANG, TZ } = process.env
  const env = Object.fromEntries(
    Object.entries({ PATH: withoutPackages(PATH ?? ''), LANG, TZ }).filter(([, value]) => value !== undefined),
  )
  const host: StartingHost = { hasEnded: false }
  let child: ChildProcess
  try {
    child = spawn(process.execPath, [...childProgram('runtime/local/hostMain'), directory, socketPathOf(dataDir)], {
      detached: true,
      stdio: ['ignore', log, log],
      env,
    })
  } finally {
    closeSync(log)
  }
  child.on('error', () => (host.hasEnded = true))
  child.on('exit', () => (host.hasEnded = true))
  child.unref()
  return host
}

/** npm puts the programs of our own packages before everything else; instances must not run those. */
export function withoutPackages(path: string): string {
  return path
    .split(delimiter)
    .filter((directory) => !/(?:^|\/)node_modules\//.test(directory) && !directory.endsWith('/node_modules'))
    .join(delimiter)
}

/** No file can be opened just now. */
function isShortage(error: unknown): boolean {
  return ['EMFILE', 'ENFILE'].includes(errorCodeOf(error) ?? '')
}

/** Where the host of a data directory keeps the records and consoles of its instances. */
export function instancesDirectory(dataDir: string): string {
  return join(dataDir, 'runtime', 'instances')
}

function hostLogOf(dataDir: string): string {
  return join(dataDir, 'runtime', 'host.log')
}

function socketPathOf(dataDir: string): string {
  const path = join(dataDir, 'runtime', 'host.sock')
  if (path.length <= SOCKET_PATH_LIMIT) return path
  const directory = join(
    tmpdir(),
    `quarterdeck-${process.getuid?.() ?? 0}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`,
  )
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(directory)
  // Somebody else's directory of this name would let them play the host.
  if (uid !== (process.getuid?.() ?? 0) || (mode & 0o777) !== 0o700)
    throw new StartError([`${directory} belongs to somebody else: remove it, or choose a shorter QUARTERDECK_DATA_DIR`])
  return join(directory, 'host.sock')
}

import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError, errorCodeOf, StartError } from '../../errors'
import { childProgram } from '../../childProgram'
import type { ConsoleLine } from '../runtime'
import {
  linesOf,
  onMessages,
  PROTOCOL_VERSION,
  sendLine,
  type CallName,
  type HostCalls,
  type HostMessage,
} from './hostProtocol'

/**
 * Longest socket path that every system supports, in bytes with its terminating NUL (unix(7)). Node.js cuts off what is
 * longer, so data directories with the same beginning would share a socket.
 */
const SOCKET_PATH_LIMIT = 100
const START_TIMEOUT_MS = 10_000
/** Timeout for the handshake with a running host. */
const HANDSHAKE_TIMEOUT_MS = 30_000
/** Timeout for the response to a call. A host that hangs must not let calls of users wait forever. */
const RESPONSE_TIMEOUT_MS = 10_000
const LAST_WAIT_MS = 1000
/** Calls with a timeout of their own, or that may take as long as instances need. */
const UNTIMED: CallName[] = ['hello', 'shutdown']
/** Initial delay between starts of a host that exits at once, with exponential back-off. */
const INITIAL_DELAY_MS = 100

type HostResponse<Name extends CallName> = Awaited<ReturnType<HostCalls[Name]>>

interface PendingCall {
  resolve: (result: unknown) => void
  reject: (error: Error) => void
  /** Chunks of a response with lines that have arrived so far. */
  pieces: ConsoleLine[][]
  timer: NodeJS.Timeout | undefined
}

export interface HostListener {
  changed(): void
  lines(podName: string, lines: ConsoleLine[]): void
  closed(): void
}

/** A connection to the host of a data directory. */
export class HostClient {
  private readonly pendingCalls = new Map<number, PendingCall>()
  private nextId = 1
  /** How the host enforces limits, as text for users. */
  limits = ''
  enforced = { cpu: false, memory: false }
  /** Set after the handshake. */
  private listener: Partial<HostListener> = {}

  private constructor(
    private readonly socket: Socket,
    private readonly log: string,
  ) {
    onMessages(socket, (line) => {
      const message = line as HostMessage
      if ('event' in message)
        return message.event === 'changed'
          ? this.listener.changed?.()
          : this.listener.lines?.(message.podName, linesOf(message))
      const pending = this.pendingCalls.get(message.id)
      if ('piece' in message) return void pending?.pieces.push(message.piece)
      this.pendingCalls.delete(message.id)
      clearTimeout(pending?.timer)
      if ('error' in message) pending?.reject(new Error(message.error))
      else
        pending?.resolve(
          pending.pieces.length > 0 ? [...pending.pieces, message.result as ConsoleLine[]].flat() : message.result,
        )
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      for (const { reject, timer } of this.pendingCalls.values()) {
        clearTimeout(timer)
        reject(hostGone())
      }
      this.pendingCalls.clear()
      this.listener.closed?.()
    })
  }

  /** Connects to a running host; undefined if there is none. */
  static async connect(dataDir: string): Promise<HostClient | undefined> {
    const socket = connect(socketPathOf(dataDir))
    const connected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    return connected ? new HostClient(socket, hostLogOf(dataDir)) : undefined
  }

  /**
   * Connects to the host, and starts one if none runs. Retries if the host exits at once: its predecessor may still be
   * ending, or the machine may lack resources for a moment.
   * @param handshakeTimeoutMs handshake timeout; overridden by tests.
   * @throws StartError if the host does not start, does not answer, or has another version.
   */
  static async open(
    dataDir: string,
    listener: HostListener,
    handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS,
  ): Promise<HostClient> {
    let client = await HostClient.connectAndCheck(dataDir, listener, handshakeTimeoutMs)
    let host: HostProcess = { hasEnded: true }
    let startAt = 0
    let backOff = INITIAL_DELAY_MS
    const deadline = performance.now() + START_TIMEOUT_MS
    while (!client && performance.now() < deadline) {
      if (host.hasEnded && performance.now() >= startAt) {
        host = startHost(dataDir)
        startAt = performance.now() + backOff
        backOff *= 2
      }
      await delay(20)
      client = await HostClient.connectAndCheck(dataDir, listener, handshakeTimeoutMs)
    }
    if (!client) throw new StartError([`The process that hosts the instances did not start; see ${hostLogOf(dataDir)}`])
    return client
  }

  /** Connects and checks the version. @returns undefined if no host runs or it exits during the handshake. */
  private static async connectAndCheck(
    dataDir: string,
    listener: HostListener,
    handshakeTimeoutMs: number,
  ): Promise<HostClient | undefined> {
    const client = await HostClient.connect(dataDir)
    const hello = await client?.hello(handshakeTimeoutMs)
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
   * Performs the handshake; closes the connection if there is no response.
   * @returns undefined if the host has exited.
   * @throws StartError after the timeout.
   */
  async hello(timeoutMs = HANDSHAKE_TIMEOUT_MS): Promise<HostResponse<'hello'> | undefined> {
    let isSilent = false
    const timer = setTimeout(() => {
      isSilent = true
      this.close()
    }, timeoutMs)
    const hello = await this.call('hello').catch(() => undefined)
    clearTimeout(timer)
    if (isSilent)
      throw new StartError([
        `The process that hosts the instances does not answer; see ${this.log}. If it hangs, kill it: the next one stops its instances in order`,
      ])
    if (!hello) this.close()
    return hello
  }

  get isOpen(): boolean {
    return !this.socket.destroyed
  }

  call<Name extends CallName>(call: Name, ...args: Parameters<HostCalls[Name]>): Promise<HostResponse<Name>> {
    if (!this.isOpen) return Promise.reject(hostGone())
    const id = this.nextId++
    return new Promise<HostResponse<Name>>((resolve, reject) => {
      const pending: PendingCall = {
        resolve: (result) => resolve(result as HostResponse<Name>),
        reject,
        pieces: [],
        timer: undefined,
      }
      const giveUp = () => {
        this.pendingCalls.delete(id)
        reject(hostSilent())
      }
      // In two steps: if this process was suspended, it reads between them what the host has answered meanwhile.
      const wait = () => (pending.timer = setTimeout(giveUp, LAST_WAIT_MS))
      if (!UNTIMED.includes(call)) pending.timer = setTimeout(wait, RESPONSE_TIMEOUT_MS - LAST_WAIT_MS)
      this.pendingCalls.set(id, pending)
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
    'The process that runs the instances has ended and is restarting. Try again in a moment.',
  )
}

function hostSilent(): AppError {
  return new AppError('UNAVAILABLE', 'The process that runs the instances does not answer. Try again in a moment.')
}

interface HostProcess {
  /** Also set if the process could not be started. */
  hasEnded: boolean
}

function startHost(dataDir: string): HostProcess {
  const directory = instancesDirectory(dataDir)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  let log: number
  try {
    log = openSync(hostLogOf(dataDir), 'a', 0o600)
  } catch (error) {
    if (isOutOfDescriptors(error)) return { hasEnded: true }
    throw error
  }
  const { PATH, LANG, TZ } = process.env
  const env = Object.fromEntries(
    Object.entries({ PATH: withoutPackages(PATH ?? ''), LANG, TZ }).filter(([, value]) => value !== undefined),
  )
  const host: HostProcess = { hasEnded: false }
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

/** Removes npm's entries from PATH: instances must not run programs of our own packages. */
export function withoutPackages(path: string): string {
  return path
    .split(delimiter)
    .filter((directory) => !/(?:^|\/)node_modules\//.test(directory) && !directory.endsWith('/node_modules'))
    .join(delimiter)
}

/** Whether no descriptor is available at the moment. */
function isOutOfDescriptors(error: unknown): boolean {
  return ['EMFILE', 'ENFILE'].includes(errorCodeOf(error) ?? '')
}

/** Directory with the records and consoles of the host's instances. */
export function instancesDirectory(dataDir: string): string {
  return join(dataDir, 'runtime', 'instances')
}

function hostLogOf(dataDir: string): string {
  return join(dataDir, 'runtime', 'host.log')
}

function socketPathOf(dataDir: string): string {
  const path = join(dataDir, 'runtime', 'host.sock')
  if (Buffer.byteLength(path) <= SOCKET_PATH_LIMIT) return path
  const directory = join(
    tmpdir(),
    `quarterdeck-${process.getuid?.() ?? 0}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`,
  )
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(directory)
  // In a directory that another user may change, that user could impersonate the host.
  const isOwn = uid === (process.getuid?.() ?? 0)
  if (!isOwn || (mode & 0o777) !== 0o700)
    throw new StartError([
      `${directory} ${isOwn ? 'is not a directory that only its owner may enter' : 'belongs to another user'}: ` +
        'remove it, or choose a shorter QUARTERDECK_DATA_DIR',
    ])
  return join(directory, 'host.sock')
}

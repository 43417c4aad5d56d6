import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '../../errors'
import type { ConsoleLine } from '../runtime'
import { linesOf, onLines, PROTOCOL_VERSION, sendLine, type CallName, type HostCalls, type HostMessage } from './hostProtocol'

/** The longest path that every system's unix sockets take, with room for its end (unix(7)). */
const SOCKET_PATH_LIMIT = 100
const START_TIMEOUT_MS = 10_000

type Answer<Name extends CallName> = Awaited<ReturnType<HostCalls[Name]>>

interface Waiting {
  resolve: (result: unknown) => void
  reject: (error: Error) => void
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

  private constructor(
    private readonly socket: Socket,
    listener: Partial<HostListener>,
  ) {
    onLines(socket, (line) => {
      const message = line as HostMessage
      if ('event' in message) return message.event === 'changed' ? listener.changed?.() : listener.lines?.(message.podName, linesOf(message))
      const waiting = this.waiting.get(message.id)
      this.waiting.delete(message.id)
      if ('error' in message) waiting?.reject(new Error(message.error))
      else waiting?.resolve(message.result)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      for (const { reject } of this.waiting.values()) reject(new Error('The host of the instances is gone'))
      this.waiting.clear()
      listener.closed?.()
    })
  }

  /** Connects to a host that is there. */
  static async connect(dataDir: string, listener: Partial<HostListener> = {}): Promise<HostClient | undefined> {
    const socket = connect(socketPathOf(dataDir))
    const connected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    return connected ? new HostClient(socket, listener) : undefined
  }

  /**
   * Connects to the host; starts one where there is none.
   * @throws StartError when it does not start, or is of another version.
   */
  static async open(dataDir: string, listener: HostListener): Promise<HostClient> {
    let client = await HostClient.connect(dataDir, listener)
    if (!client) {
      startHost(dataDir)
      for (const deadline = Date.now() + START_TIMEOUT_MS; !client && Date.now() < deadline; ) {
        await delay(20)
        client = await HostClient.connect(dataDir, listener)
      }
    }
    if (!client) throw new StartError([`The process that hosts the instances did not start; see ${hostLogOf(dataDir)}`])
    const { version, limits } = await client.call('hello')
    client.limits = limits
    if (version !== PROTOCOL_VERSION) {
      client.close()
      throw new StartError(['The instances run under a host of another version: end them with `npm run stop:all` and start again'])
    }
    return client
  }

  get isOpen(): boolean {
    return !this.socket.destroyed
  }

  call<Name extends CallName>(call: Name, ...args: Parameters<HostCalls[Name]>): Promise<Answer<Name>> {
    if (!this.isOpen) return Promise.reject(new Error('The host of the instances is gone'))
    const id = this.nextId++
    return new Promise<Answer<Name>>((resolve, reject) => {
      this.waiting.set(id, { resolve: (result) => resolve(result as Answer<Name>), reject })
      sendLine(this.socket, { id, call, args })
    })
  }

  close(): void {
    this.socket.destroy()
  }
}

function startHost(dataDir: string): void {
  const directory = join(dataDir, 'runtime', 'instances')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const log = openSync(hostLogOf(dataDir), 'a', 0o600)
  // From the sources (development, tests) the program is TypeScript, which needs its loader.
  const program = __filename.endsWith('.ts') ? ['--import', 'tsx', join(__dirname, 'hostMain.ts')] : [join(__dirname, 'hostMain.js')]
  const { PATH, LANG, TZ } = process.env
  const env = Object.fromEntries(Object.entries({ PATH, LANG, TZ }).filter(([, value]) => value !== undefined))
  spawn(process.execPath, [...program, directory, socketPathOf(dataDir)], { detached: true, stdio: ['ignore', log, log], env }).unref()
  closeSync(log)
}

function hostLogOf(dataDir: string): string {
  return join(dataDir, 'runtime', 'host.log')
}

function socketPathOf(dataDir: string): string {
  const path = join(dataDir, 'runtime', 'host.sock')
  if (path.length <= SOCKET_PATH_LIMIT) return path
  const directory = join(tmpdir(), `quarterdeck-${process.getuid?.() ?? 0}-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(directory)
  // Somebody else's directory of this name would let them play the host.
  if (uid !== (process.getuid?.() ?? 0) || (mode & 0o777) !== 0o700) throw new StartError([`${directory} belongs to somebody else: remove it, or choose a shorter QUARTERDECK_DATA_DIR`])
  return join(directory, 'host.sock')
}

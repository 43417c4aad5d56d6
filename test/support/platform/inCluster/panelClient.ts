import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { generate } from 'otplib'
import { WebSocket } from 'ws'
import type { ConsoleFrame } from '../../../../src/contract/consoleChannel'
import type { Instance } from '../../../../src/contract/instance'

/** Time for an answer. */
const CALL_MS = 15_000

interface Answer {
  status: number
  body: { data: Record<string, unknown>; message?: string }
}

/** What people do in the console, done by calls and sockets: to any replica behind an address. */
export interface PanelClient {
  /** @returns the answer with its status. @throws Error if the connection fails */
  send(method: string, path: string, body?: unknown): Promise<Answer>
  /** @returns the data of the answer. @throws Error if the call fails */
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  /** The same session at another address. @param keepAlive whether calls share a connection */
  at(address: string, options?: { keepAlive?: boolean }): PanelClient
  /** Registers with the invite code that a log of the platform shows, and signs in. */
  registerFirst(log: string): Promise<void>
  instancesOf(deployment: string): Promise<Instance[]>
  openConsole(deployment: string, podName: string, query?: string): Promise<ConsoleViewer>
  close(): void
}

export interface ConsoleViewer {
  /** All lines that were received. */
  lines: string[]
  /** The code that the socket was closed with. */
  closeCode: number | undefined
  type(command: string): void
  close(): void
}

/**
 * @param address host and port of the platform. @param session that another client has
 * @param keepAlive whether calls share a connection; else each has its own, which any replica may get
 */
export function createPanelClient(address: string, { keepAlive = false, session = { token: '' } } = {}): PanelClient {
  const agent = new Agent({ keepAlive, maxSockets: keepAlive ? 1 : Infinity })

  async function send(method: string, path: string, body?: unknown): Promise<Answer> {
    const { token } = session
    const call = request(`http://${address}${path}`, {
      method,
      agent,
      signal: AbortSignal.timeout(CALL_MS),
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
    })
    call.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response) text += String(chunk)
    return { status: response.statusCode ?? 0, body: JSON.parse(text) as Answer['body'] }
  }

  async function call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
    const answer = await send(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.message}`)
    return answer.body.data
  }

  return {
    send,
    call,
    at: (other, options) => createPanelClient(other, { ...options, session }),
    async registerFirst(log) {
      const inviteCode = decodeURIComponent(/\/register\?invite=(\S+)/.exec(log)?.[1] ?? '')
      const user = { username: 'admin', password: 'correct horse' }
      const { token: inviteToken } = await call('POST', '/api/auth/verify-invite', { inviteCode })
      const { secret } = await call('POST', '/api/auth/register', { ...user, inviteToken })
      const now = Math.floor(Date.now() / 1000)
      const code = (epoch: number) => generate({ secret: String(secret), epoch })
      const { username } = user
      await call('POST', '/api/auth/verify-registration', { username, token: await code(now), inviteToken })
      const { sessionToken } = await call('POST', '/api/auth/login', user)
      // A code is valid once; that of the next half minute is accepted already.
      const signedIn = await call('POST', '/api/auth/verify-login', {
        username,
        token: await code(now + 30),
        sessionToken,
      })
      session.token = String(signedIn.token)
    },
    async instancesOf(deployment) {
      return (await call('GET', `/api/deployments/${deployment}/instances`)).instances as Instance[]
    },
    async openConsole(deployment, podName, query = '') {
      const socket = new WebSocket(`ws://${address}/api/logs/${deployment}/${podName}${query}`, {
        headers: { origin: `http://${address}`, cookie: `token=${session.token}` },
      })
      const viewer: ConsoleViewer = {
        lines: [],
        closeCode: undefined,
        type: (command) => socket.send(JSON.stringify({ type: 'command', command })),
        close: () => socket.terminate(),
      }
      socket.on('message', (data) => {
        const { type, content } = JSON.parse((data as Buffer).toString()) as ConsoleFrame
        if (type !== 'power') viewer.lines.push(...content.split('\n'))
      })
      socket.on('close', (code) => (viewer.closeCode = code))
      await once(socket, 'open')
      // An error is followed by the close.
      socket.on('error', () => undefined)
      return viewer
    },
    close: () => agent.destroy(),
  }
}

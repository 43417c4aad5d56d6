import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { ConsoleFrame } from '../../../../src/contract/sockets/consoleChannel'
import type { DeploymentType } from '../../../../src/contract/deployment'
import type { Instance } from '../../../../src/contract/instance'
import type { PowerAction } from '../../../../src/platform/deployments/power'
import { codeOf, registerAccount } from '../registerAccount'

/** Time for a response. */
const CALL_MS = 15_000

interface Answer {
  status: number
  body: { data: Record<string, unknown>; message?: string }
}

/** A client of the API and of console sockets, for the replicas behind an address. */
export interface PanelClient {
  /** @returns the response with its status. @throws Error if the connection fails */
  send(method: string, path: string, body?: unknown): Promise<Answer>
  /** @returns the data of the response. @throws Error if the call fails */
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  /** A client with the same session for another address. @param keepAlive whether calls share a connection */
  at(address: string, options?: { keepAlive?: boolean }): PanelClient
  /** Registers with the invite code in a log of the platform, and signs in. */
  registerFirst(log: string): Promise<void>
  /** Creates a deployment with this definition, and enables it. */
  deploy(name: string, type: DeploymentType, content: string): Promise<void>
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
  power(action: PowerAction): void
  close(): void
}

/**
 * @param address host and port of the platform
 * @param keepAlive whether calls share a connection; otherwise each has its own, which may lead to any replica
 * @param session of another client, to share it
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
      const post = (path: string, body: object) => call('POST', `/api/auth/${path}`, body)
      const { secret } = await registerAccount(post, inviteCode, user)
      const { sessionToken } = await post('login', user)
      // A code is valid once; that of the next half minute is accepted already.
      const code = await codeOf(secret, 1)
      const { token } = await post('verify-login', { username: user.username, token: code, sessionToken })
      session.token = String(token)
    },
    async deploy(name, type, content) {
      await call('POST', '/api/deployments', { name, type })
      await call('PATCH', `/api/deployments/${name}`, { content })
      await call('POST', `/api/deployments/${name}/toggle`, { enabled: true })
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
        power: (action) => socket.send(JSON.stringify({ type: 'power', action })),
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

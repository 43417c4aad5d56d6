import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { ConsoleAnswer, ConsoleFrame } from '../../../src/contract/sockets/consoleChannel'
import { useAccount, usePlatform, type Account } from './startPlatform'
import { until } from './until'

/** After `hold` it does not exit until `go`, like a server that is saving. */
const ECHO = `
console.log('Ready')
let isHeld = false
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [word, count] = line.split(' ')
  if (word === 'print') for (let i = 1; i <= Number(count); i++) console.log('line ' + i)
  else if (word === 'wide') for (let i = 1; i <= Number(count); i++) console.log('line ' + i + ' ' + 'x'.repeat(200))
  else if (word === 'oops') console.error('went wrong')
  else if (word === 'crash') process.exit(3)
  else if (word === 'hold') isHeld = true
  else if (word === 'go' || (word === 'stop' && !isHeld)) process.exit(0)
  else console.log('heard ' + line)
})`

/** A viewer of the console, with what it has received. */
class Viewer {
  readonly frames: ConsoleFrame[] = []
  readonly answers: ConsoleAnswer[] = []
  closed: { code: number } | undefined

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const frame = JSON.parse((data as Buffer).toString()) as ConsoleFrame | ConsoleAnswer
      if (frame.type === 'answer') this.answers.push(frame)
      else this.frames.push(frame)
    })
    socket.on('close', (code) => (this.closed = { code }))
  }

  get lines(): string[] {
    return this.frames.filter(({ type }) => type !== 'power').flatMap(({ content }) => content.split('\n'))
  }

  /** Every numbered line with its number. */
  get numbered(): [number, string][] {
    return this.frames.flatMap(({ seq, content }) =>
      seq === undefined ? [] : content.split('\n').map((line, at): [number, string] => [seq + at, line]),
    )
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message))
  }

  command(command: string): void {
    this.send({ type: 'command', command })
  }
}

/** Starts a platform that listens, for the tests of a file, with an instance that answers its console. */
export function useEchoConsole() {
  const { platform, account: ann } = usePlatform('ann')
  const bob = useAccount(platform, 'bob')
  let url: URL
  let podName: string
  let viewers: Viewer[] = []

  const call = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) =>
    platform().call(method, path, { token: ann().token, body })
  const instance = async () =>
    (
      (await call('GET', '/api/deployments/echo/instances')).body.data.instances as {
        podName: string
        uid: string
        state: string
        restarts: number
        lastExit?: { code: number }
      }[]
    )[0]!
  const stateIs = (state: string) =>
    until(
      async () => (await instance()).state,
      (current) => current === state,
    )
  const consolePath = () => `/api/logs/echo/${podName}`
  const attempt = (
    path: string,
    { token = ann().token, origin = url.origin }: { token?: string; origin?: string } = {},
  ) => new WebSocket(`ws://${url.host}${path}`, { headers: { origin, cookie: `token=${token}` } })

  beforeAll(async () => {
    url = new URL(await platform().app.listen({ host: '127.0.0.1', port: 0 }))
    await call('POST', '/api/deployments', { name: 'echo', type: 'process' })
    const content = `name: echo\ntype: process\ndataDirectory: /echo\nrun: { command: ["node", "-e", ${JSON.stringify(ECHO)}] }\nready: Ready\nstop: { command: stop, timeoutSeconds: 5 }\nplainCommands: [claim]\n`
    expect(await call('PATCH', '/api/deployments/echo', { content })).toMatchObject({ status: 200 })
    await call('POST', '/api/deployments/echo/toggle', { enabled: true })
    await until(async () => Boolean(await instance()))
    await stateIs('RUNNING')
    podName = (await instance()).podName
  })
  afterEach(() => {
    for (const { socket } of viewers) socket.terminate()
    viewers = []
  })

  return {
    platform,
    ann,
    bob,
    call,
    instance,
    stateIs,
    podName: () => podName,
    /** The address of the platform. */
    url: () => url,
    /** The path of the console's socket. */
    consolePath,
    /** Requests a console that may be refused. */
    attempt,
    async open(this: void, query = '', as: Account = ann()): Promise<Viewer> {
      const viewer = new Viewer(attempt(`${consolePath()}${query}`, { token: as.token }))
      viewers.push(viewer)
      await once(viewer.socket, 'open')
      return viewer
    },
  }
}

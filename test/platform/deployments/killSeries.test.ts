import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { generate } from 'otplib'
import { WebSocket } from 'ws'
import type { ConsoleFrame } from '../../../src/contract/sockets/consoleChannel'
import { canContain } from '../../support/platform/canContain'
import { freshDatabase } from '../../support/platform/freshState'
import { createRandom } from '../../support/platform/fuzz/random'
import { processesOf } from '../../support/platform/processesOf'
import { killLeftovers, readyUrl, runProgram, type RunningProgram } from '../../support/platform/runPlatform'
import { stopHost } from '../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

jest.setTimeout(900_000)

/** `KILLS=50 npx jest … killSeries.test.ts` tries more kills. */
const KILLS = Number(process.env.KILLS ?? 20)
/** Deployments that are toggled all the time. */
const TOGGLED = ['one', 'two', 'three', 'four']

/** Prints lines and echoes its input. */
const STEADY = `console.log('pid ' + process.pid); let n = 0; setInterval(() => console.log('line ' + ++n), 10)
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => console.log('heard ' + line))`
const QUIET = "setInterval(() => console.log('tick'), 20)"

const directory = useTemporaryDirectory()
afterAll(async () => {
  killLeftovers()
  await stopHost(dataDir())
  await database.drop()
})
const dataDir = () => join(directory(), 'data')
let database: Awaited<ReturnType<typeof freshDatabase>>
let platform: RunningProgram
let url = ''
let token = ''

beforeAll(async () => {
  database = await freshDatabase()
  await start()
  const account = { username: 'tester', password: 'correct horse battery' }
  const { token: inviteToken } = await call('POST', 'auth/verify-invite', { inviteCode: 'first-invite-of-all' })
  const { secret } = await call('POST', 'auth/register', { ...account, inviteToken })
  token = String(
    (
      await call('POST', 'auth/verify-registration', {
        username: account.username,
        token: await generate({ secret: String(secret) }),
        inviteToken,
      })
    ).loginToken,
  )
})

async function start(): Promise<void> {
  platform = runProgram('main', {
    QUARTERDECK_DATA_DIR: dataDir(),
    QUARTERDECK_STATE_URL: database.url,
    QUARTERDECK_SQL_URL: database.url,
    QUARTERDECK_PORT: '0',
    QUARTERDECK_FIRST_INVITE: 'first-invite-of-all',
    QUARTERDECK_LOG_LEVEL: 'error',
    QUARTERDECK_SAMPLE: 'off',
    QUARTERDECK_ISOLATION: canContain ? 'required' : 'off',
  })
  url = await readyUrl(platform)
}

async function end(signal: NodeJS.Signals): Promise<void> {
  platform.child.kill(signal)
  await platform.exited
}

async function call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
  const answer = await fetch(`${url}/api/${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  })
  const { data, message } = (await answer.json()) as { data: Record<string, unknown>; message?: string }
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${message}`)
  return data
}

async function deploy(name: string, program: string): Promise<void> {
  await call('POST', 'deployments', { name, type: 'process' })
  const command = JSON.stringify(['node', '-e', program, markOf(name)])
  await call('PATCH', `deployments/${name}`, {
    content: `name: ${name}\ntype: process\ndataDirectory: /${name}\nrun: { command: ${command} }\nstop: { timeoutSeconds: 1 }\n`,
  })
}

/** A part of the command of each instance, which distinguishes its process from those that start and watch it. */
const markOf = (name: string) => join(dataDir(), `instance-${name}`)
const pidsOf = (name: string) => processesOf(markOf(name), /^node\0-e\0/)
const toggle = (name: string, enabled: boolean) => call('POST', `deployments/${name}/toggle`, { enabled })
const instancesOf = async (name: string) =>
  (await call('GET', `deployments/${name}/instances`)).instances as { podName: string; state: string }[]

/** Reads a console across all lost connections, and writes the commands `1`, `2` … */
function useConsole(podName: string) {
  const lines: string[] = []
  let lastNumber = 0
  let sent = 0
  return {
    lines,
    /** Reads and writes until the connection closes. */
    async whileConnected(): Promise<void> {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/api/logs/steady/${podName}?since=${lastNumber + 1}`, {
        headers: { cookie: `token=${token}`, origin: url },
      })
      const writing = setInterval(
        () =>
          socket.readyState === WebSocket.OPEN &&
          socket.send(JSON.stringify({ type: 'command', command: String(++sent) })),
        100,
      )
      socket.on('message', (data) => {
        const frame = JSON.parse((data as Buffer).toString()) as ConsoleFrame
        if (frame.type === 'power' || frame.seq === undefined) return
        for (const [at, line] of frame.content.split('\n').entries()) {
          // A gap, or a duplicate line.
          if (frame.seq + at !== lastNumber + 1) lines.push(`NUMBER ${frame.seq + at} AFTER ${lastNumber}`)
          lastNumber = frame.seq + at
          lines.push(line)
        }
      })
      await new Promise<void>((resolve) => socket.on('error', () => resolve()).on('close', () => resolve()))
      clearInterval(writing)
    },
    get sent() {
      return sent
    },
  }
}

test('security 51: repeated kills of the platform restart no instance and lose no line, and each instance runs once', async () => {
  for (const name of TOGGLED) await deploy(name, QUIET)
  await deploy('steady', STEADY)
  await toggle('steady', true)
  const [instance] = await until(
    () => instancesOf('steady'),
    ([found]) => found?.state === 'RUNNING',
    60,
  )
  const steady = useConsole(instance!.podName)
  const random = createRandom(7)

  for (let kill = 0; kill < KILLS; kill++) {
    await toggle(random.pick(TOGGLED), random.int(2) === 0)
    const ended = steady.whileConnected()
    // Varies the moment of the kill; nothing is waited for.
    await delay(random.int(300))
    await end('SIGKILL')
    await ended
    await start()
  }

  const wanted = ['one', 'three']
  for (const name of TOGGLED) await toggle(name, wanted.includes(name))
  const running = () => TOGGLED.flatMap((name) => pidsOf(name).map(() => name))
  await until(running, (names) => names.join() === wanted.join(), 60)
  const ended = steady.whileConnected()
  const already = steady.sent
  await until(
    () => steady.lines,
    (lines) => lines.some((line) => Number(/^heard (\d+)$/.exec(line)?.[1]) > already),
  )
  const listed = async () =>
    Object.fromEntries(
      await Promise.all(
        [...TOGGLED, 'steady'].map(async (name) => [
          name,
          (await instancesOf(name)).map((found) => found.state).join(),
        ]),
      ),
    )
  await until(
    listed,
    (states) =>
      JSON.stringify(states) ===
      JSON.stringify({ one: 'RUNNING', two: '', three: 'RUNNING', four: '', steady: 'RUNNING' }),
  )
  expect(running()).toEqual(wanted)
  await end('SIGTERM')
  await ended
  expect(steady.lines.filter((line) => line.startsWith('NUMBER'))).toEqual([])
  expect(steady.lines.filter((line) => line.startsWith('pid '))).toHaveLength(1)
  const counted = steady.lines.filter((line) => line.startsWith('line '))
  expect(counted).toEqual(counted.map((_line, at) => `line ${at + 1}`))
  const heard = steady.lines.filter((line) => line.startsWith('heard ')).map((line) => Number(line.slice(6)))
  expect(heard).toEqual([...new Set(heard)].sort((one, other) => one - other))
})

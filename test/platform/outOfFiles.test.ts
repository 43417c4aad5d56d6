import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { HostClient } from '../../src/platform/runtime/local/hostClient'
import { canContain } from '../support/platform/canContain'
import { childProgram } from '../support/platform/childProgram'
import { freshDatabase } from '../support/platform/freshState'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

jest.setTimeout(90_000)

const directory = useTemporaryDirectory()

/** Runs a program with this limit of open files. */
function runWithFewFiles(limit: number, args: string[], env: Record<string, string | undefined> = {}) {
  return spawn('sh', ['-c', `ulimit -n ${limit}; exec "$@"`, 'sh', process.execPath, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...env },
  })
}

async function outcomesOf(scenario: string): Promise<string[]> {
  const own = join(directory(), scenario)
  mkdirSync(own)
  const child = runWithFewFiles(256, [
    '--import',
    'tsx',
    join(__dirname, '../support/platform/outOfFiles.ts'),
    scenario,
    own,
  ])
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(code).toBe(0)
  return JSON.parse(said) as string[]
}

const TOO_MANY = 'UNAVAILABLE: Too many files are open at once. Try again in a moment.'

test.each(['listing', 'sevenZip'])(
  'without free file descriptors %s fails with a clear message, and works when there are enough',
  async (scenario) => {
    const outcomes = await outcomesOf(scenario)
    expect(outcomes[0]).toBe(TOO_MANY)
    expect(outcomes.slice(0, -1).filter((said) => said !== TOO_MANY && said !== 'done')).toEqual([])
    expect(outcomes.at(-1)).toBe('done')
  },
)

test('without free file descriptors a supervised server is retried, and no process dies', async () => {
  const outcomes = await outcomesOf('server')
  const failure =
    'UNAVAILABLE: The MongoDB server (sleep) could not be started. The platform retries it; see its log for the reason.'
  expect(outcomes[0]).toBe(failure)
  expect(outcomes.slice(0, -1).filter((said) => said !== failure && said !== 'done')).toEqual([])
  expect(outcomes.at(-1)).toBe('done')
})

test.each(['host', 'postgres'])(
  '%s: starts as soon as file descriptors are free, and no process dies',
  async (scenario) => {
    expect(await outcomesOf(scenario)).toEqual(['done'])
  },
)

const testContained = canContain ? test : test.skip

testContained(
  'security 161: an instance is not taken for ended while there is no free file descriptor to look at its processes',
  async () => {
    expect(await outcomesOf('contained')).toEqual(['RUNNING still'])
  },
)

test('an instance for which the host has no free file descriptor ends with a reason; host and other instances continue', async () => {
  const records = join(directory(), 'runtime', 'instances')
  mkdirSync(records, { recursive: true })
  const child = runWithFewFiles(64, [
    ...childProgram('runtime/local/hostMain'),
    records,
    join(directory(), 'runtime', 'host.sock'),
  ])
  const host = (await until(() => HostClient.connect(directory())))!
  try {
    const start = (podName: string) =>
      host.call('start', {
        podName,
        deployment: 'crowd',
        command: ['sleep', '60'],
        directory: directory(),
        copy: false,
        env: {},
        port: undefined,
        ready: undefined,
        stop: { command: undefined, timeoutSeconds: 1 },
        limits: { cores: undefined, memoryBytes: undefined },
      })
    for (let count = 0; count < 40; count++) await start(`pod-${count}`)
    const all = await until(
      () => host.call('list'),
      (list) => list.every(({ state }) => state !== 'STARTING'),
    )
    const [running, ended] = [
      all.filter(({ state }) => state === 'RUNNING'),
      all.filter(({ state }) => state === 'EXITED'),
    ]
    expect(running.length).toBeGreaterThan(2)
    expect(ended.length).toBeGreaterThan(2)
    expect(new Set(ended.map(({ exit }) => exit?.failure))).toEqual(
      new Set(['Could not be started: too many files are open at once.']),
    )

    // Starting an instance takes more descriptors than running one.
    const room = running.slice(0, 4).map(({ podName }) => podName)
    for (const podName of room) await host.call('kill', podName)
    await until(
      () => host.call('list'),
      (list) => list.every(({ podName, state }) => !room.includes(podName) || state === 'EXITED'),
    )
    const { podName } = ended.at(-1)!
    await start(podName)
    expect(await host.call('list')).toContainEqual(expect.objectContaining({ podName, state: 'RUNNING' }))
  } finally {
    await host.call('shutdown')
    host.close()
    await once(child, 'exit')
  }
})

test('half of the file descriptors stay reserved for the platform when clients open too many connections', async () => {
  const { url: stateUrl, drop } = await freshDatabase()
  const dataDir = join(directory(), 'flooded')
  const child = runWithFewFiles(200, childProgram('main'), {
    QUARTERDECK_PORT: '0',
    QUARTERDECK_LOG_LEVEL: 'error',
    QUARTERDECK_SAMPLE: 'off',
    QUARTERDECK_DATA_DIR: dataDir,
    QUARTERDECK_STATE_URL: stateUrl,
    QUARTERDECK_SQL_URL: stateUrl,
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const { hostname, port } = new URL(await until(() => /ready: (http\S+)/.exec(said)?.[1] ?? ''))
  const flood: Socket[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const health = (over?: Agent) =>
    new Promise<number | undefined>((resolve) => {
      get({ hostname, port, path: '/api/health', agent: over ?? false }, (answer) =>
        answer.resume().on('end', () => resolve(answer.statusCode)),
      ).on('error', () => resolve(undefined))
    })
  try {
    expect(await health(agent)).toBe(200)
    let refused = 0
    for (let count = 0; count < 300; count++)
      flood.push(
        connect({ port: Number(port), host: hostname, localAddress: `127.0.0.${2 + (count % 3)}` })
          .on('error', () => undefined)
          .on('close', () => (refused += 1)),
      )
    await until(
      () => refused,
      (count) => count === 300 - 99,
    )
    expect(await health(agent)).toBe(200)
    expect(await health()).toBeUndefined()
    for (const socket of flood) socket.destroy()
    await until(
      () => health(),
      (status) => status === 200,
    )
  } finally {
    agent.destroy()
    for (const socket of flood) socket.destroy()
    child.kill('SIGTERM')
    await once(child, 'exit')
    await stopHost(dataDir)
    await drop()
  }
})

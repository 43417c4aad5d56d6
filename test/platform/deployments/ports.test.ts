import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { Definition } from '../../../src/contract/deployment'
import { createListeningSockets, type PortOwner } from '../../../src/platform/deployments/monitoring/listeningSockets'
import {
  checkPort,
  describeOwner,
  hideDeployments,
  ListenWatch,
} from '../../../src/platform/deployments/monitoring/portChecks'
import type { RuntimeInstance } from '../../../src/platform/runtime/runtime'
import { startTimeOf } from '../../../src/platform/processLock'
import { parseDefinition } from '../../../src/platform/deployments/definitions'
import { specOf } from '../../../src/platform/deployments/instanceSpec'
import { firstFreePort, portWarnings } from '../../../src/platform/deployments/portRanges'
import type { InstanceRow } from '../../../src/platform/state/deployments/instances'
import { freePort } from '../../support/platform/freePort'
import { until } from '../../support/platform/until'

let runs: RuntimeInstance[] = []
afterEach(() => (runs = []))
const read = createListeningSockets(async () => runs)
const ownerOf = async (port: number) => (await read())?.ownerOf(port)

test.each([['0.0.0.0'], ['127.0.0.1'], ['::'], ['::1']])(
  'a listening socket on %s and the program that owns it are found',
  async (host) => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, host, resolve))
    const { port } = server.address() as AddressInfo
    expect(await ownerOf(port)).toEqual({ kind: 'program', name: expect.any(String), pid: process.pid })
    await new Promise((resolve) => server.close(resolve))
    expect(await ownerOf(port)).toBeUndefined()
  },
)

test('a UDP socket is found', async () => {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  expect(await ownerOf(socket.address().port)).toMatchObject({ kind: 'program', pid: process.pid })
  await new Promise<void>((resolve) => socket.close(resolve))
})

test('security 102: the owner of a port is unknown if there are more sockets than the platform reads', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const program = `
    const { createSocket } = require('node:dgram')
    let open = 0
    for (let at = 0; at < 3000; at++)
      createSocket('udp4').bind(0, '127.0.0.1', () => (open += 1) === 3000 && console.log('open'))
    setInterval(() => undefined, 60_000)`
  const children = [1, 2, 3].map(() => spawn(process.execPath, ['-e', program]))
  try {
    await Promise.all(children.map(({ stdout }) => once(stdout, 'data')))
    // On a busy machine one look may end before it has found the process, and the next one is 10 s later.
    const owner = await until(
      () => ownerOf(port),
      (found) => found?.kind !== 'unknown',
    )
    expect(owner).toMatchObject({ kind: 'program', pid: process.pid })
    expect(await ownerOf(1)).toEqual({ kind: 'unsure' })
    const row = { pod_name: 'lobby-abc123', deployment: 'lobby' }
    expect(await checkPort(1, row, [row], [], await read(), 0)).toBe('free')
  } finally {
    for (const child of children) child.kill('SIGKILL')
    server.close()
  }
})

const runOf = (podName: string, pid: number): RuntimeInstance => ({
  podName,
  runId: podName,
  state: 'RUNNING',
  ip: '127.0.0.1',
  port: undefined,
  startedAt: 0,
  exit: undefined,
  process: { pid, startTime: startTimeOf(pid) },
})

/** Ends with its input, also in a session of its own. */
const LISTEN_WHILE_INPUT = `
  require('node:net').createServer().listen(process.env.PORT, '127.0.0.1')
  process.stdin.on('end', process.exit).resume()`

test.each([
  ['itself', 'exec node -e "$0"'],
  ['as a child that cleared its environment', 'env -i "PATH=$PATH" "PORT=$PORT" node -e "$0"; true'],
  ['as a child in a session of its own', 'setsid -w node -e "$0"; true'],
  [
    'security 107: as a child that claims to be another instance',
    'QUARTERDECK_INSTANCE=lobby-abc124 node -e "$0"; true',
  ],
])('the socket of an instance is recognized as its own: %s', async (_how, script) => {
  const port = await freePort()
  const parent = spawn('sh', ['-c', script, LISTEN_WHILE_INPUT], {
    env: { ...process.env, PORT: String(port), QUARTERDECK_INSTANCE: 'lobby-abc123' },
    detached: true,
  })
  const other = spawn('sleep', ['600'], { detached: true })
  runs = [runOf('lobby-abc124', other.pid!), runOf('lobby-abc123', parent.pid!)]
  try {
    expect(await until(() => ownerOf(port))).toEqual({ kind: 'instance', podName: 'lobby-abc123' })
  } finally {
    parent.stdin.end()
    other.kill('SIGKILL')
  }
})

test('security 107: a program that claims to be an instance is reported as a program', async () => {
  const port = await freePort()
  const program = "require('node:net').createServer().listen(process.env.PORT, '127.0.0.1')"
  const env = { ...process.env, PORT: String(port), QUARTERDECK_INSTANCE: 'lobby-abc123' }
  const other = spawn('sleep', ['600'], { detached: true })
  const liar = spawn(process.execPath, ['-e', program], { env, detached: true })
  runs = [runOf('lobby-abc123', other.pid!)]
  try {
    expect(await until(() => ownerOf(port))).toEqual({ kind: 'program', name: 'node', pid: liar.pid })
  } finally {
    liar.kill('SIGKILL')
    other.kill('SIGKILL')
  }
})

test('an owner that a busy machine did not find in time is searched for again after 10 s', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const now = performance.now.bind(performance)
  let [aheadMs, stepMs] = [0, 3000]
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + (aheadMs += stepMs))
  try {
    expect(await ownerOf(port)).toEqual({ kind: 'unknown' })
    stepMs = 0
    expect(await ownerOf(port)).toEqual({ kind: 'unknown' })
    aheadMs += 10_000
    expect(await ownerOf(port)).toMatchObject({ kind: 'program', pid: process.pid })
  } finally {
    clock.mockRestore()
    server.close()
  }
})

test('the owner of a socket is unknown as long as the processes of instances are, and is searched for again', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  runs = [{ ...runOf('lobby-abc123', process.pid), process: undefined }]
  expect(await ownerOf(port)).toEqual({ kind: 'unknown' })
  runs = [runOf('lobby-abc123', process.pid)]
  expect(await ownerOf(port)).toEqual({ kind: 'instance', podName: 'lobby-abc123' })
  server.close()
})

test('the owner of a port is described in words that operators know', () => {
  const rows = [{ pod_name: 'lobby-abc123', deployment: 'lobby' }]
  const described = (owner: PortOwner) => describeOwner(owner, rows)
  expect(described({ kind: 'instance', podName: 'lobby-abc123' })).toBe('the deployment "lobby" (lobby-abc123)')
  expect(described({ kind: 'instance', podName: 'other-abc123' })).toBe('an instance that is being removed')
  expect(described({ kind: 'program', name: 'nginx', pid: 7 })).toBe('the program "nginx" (process 7)')
  expect(described({ kind: 'unknown' })).toBe('another program')
})

test('decisions §16: a text about the owner of a port names no deployment that its reader may not see', () => {
  const rows = [{ pod_name: 'lobby-2-abc123', deployment: 'lobby-2' }]
  const text = `Port 1 is taken by ${describeOwner({ kind: 'instance', podName: 'lobby-2-abc123' }, rows)}.`
  const isLobby = (name: string) => name === 'lobby-2'
  expect(hideDeployments(`${text} ${text}`, isLobby)).toBe(`${text} ${text}`)
  expect(hideDeployments(`${text} ${text}`, (name) => !isLobby(name))).toBe(
    'Port 1 is taken by another program. Port 1 is taken by another program.',
  )
  for (const owner of [{ kind: 'program', name: 'nginx', pid: 7 }, { kind: 'unknown' }] as const)
    expect(hideDeployments(describeOwner(owner, rows), () => false)).toBe(describeOwner(owner, rows))
})

describe('§14 a ready instance that does not listen within 30 s', () => {
  const run = {
    podName: 'lobby-abc123',
    runId: 'r',
    state: 'RUNNING' as const,
    ip: '127.0.0.1',
    port: 25_565,
    startedAt: 0,
    exit: undefined,
  }
  const ours: PortOwner = { kind: 'instance', podName: 'lobby-abc123' }

  test('carries a warning until it listens', () => {
    const watch = new ListenWatch()
    const look = (now: number, owner?: PortOwner, state: 'RUNNING' | 'STARTING' = 'RUNNING') =>
      watch.check({ ...run, state }, 25_565, owner, [], now)
    expect(look(0, undefined, 'STARTING')).toBeUndefined()
    expect(look(100_000)).toBeUndefined()
    expect(look(129_999)).toBeUndefined()
    expect(look(130_000)).toBe(
      'The instance is ready but does not listen on port 25565: no program does. Compare run.port with the server’s own settings.',
    )
    expect(look(140_000, ours)).toBeUndefined()
    expect(look(150_000)).toBeUndefined()
  })

  test('carries a warning that names the deployment with its port only to users who may see it', () => {
    const watch = new ListenWatch()
    const rows = [{ pod_name: 'rival-abc123', deployment: 'rival' }]
    const look = (now: number) => watch.check(run, 25_565, { kind: 'instance', podName: 'rival-abc123' }, rows, now)
    expect(look(0)).toBeUndefined()
    const warning = look(30_000)!
    expect(warning).toContain('on port 25565: the deployment "rival" (rival-abc123) does.')
    expect(hideDeployments(warning, () => false)).toBe(
      'The instance is ready but does not listen on port 25565: another program does. Compare run.port with the server’s own settings.',
    )
  })

  test('gets a new time limit with a new run', () => {
    const watch = new ListenWatch()
    watch.check(run, 25_565, undefined, [], 0)
    watch.keepOnly([])
    expect(watch.check(run, 25_565, undefined, [], 60_000)).toBeUndefined()
  })

  test('carries no warning if the owner of the port is unknown', () => {
    const watch = new ListenWatch()
    for (const now of [0, 60_000]) expect(watch.check(run, 25_565, { kind: 'unknown' }, [], now)).toBeUndefined()
  })
})

const definition = (name: string, port: number | undefined, more: Partial<Definition> = {}): Definition => ({
  name,
  type: 'persistent',
  dataDirectory: '/x',
  run: { jar: 'x.jar', port },
  stop: { timeoutSeconds: 30 },
  ready: undefined,
  readyTimeoutSeconds: 300,
  plainCommands: [],
  ...more,
})

test.each<[string, Definition, Definition, string[]]>([
  [
    'the same port',
    definition('a', 25_565),
    definition('b', 25_565),
    [
      'run.port: port 25565 overlaps with port 25565 of the deployment "b". An instance whose port is taken is not started.',
    ],
  ],
  [
    'a port within a range',
    definition('a', 25_567),
    definition('b', 25_565, { type: 'scalable', instances: { min: 1, max: 3, playersPerInstance: 50 } }),
    [
      'run.port: port 25567 overlaps with the range of ports 25565 to 25567 of the deployment "b". An instance whose port is taken is not started.',
    ],
  ],
  [
    'a port after a range',
    definition('a', 25_568),
    definition('b', 25_565, { type: 'scalable', instances: { min: 1, max: 3, playersPerInstance: 50 } }),
    [],
  ],
  ['its own ports', definition('a', 25_565), definition('a', 25_565), []],
  ['none', definition('a', undefined), definition('b', undefined), []],
  ['a port of another node', definition('a', 25_565, { node: 'one' }), definition('b', 25_565, { node: 'two' }), []],
])('saving a configuration reports duplicate ports: %s', (_case, saved, other, warnings) => {
  expect(portWarnings(saved, [other])).toEqual(warnings)
})

test('saving a configuration reports a port that the platform itself listens on', () => {
  const ours = [
    { port: 8080, owner: 'Quarterdeck itself' },
    { port: 15_432, owner: 'the embedded PostgreSQL' },
  ]
  expect(portWarnings(definition('a', 8080), [], ours)).toEqual([
    'run.port: port 8080 is that of Quarterdeck itself. An instance whose port is taken is not started.',
  ])
  expect(
    portWarnings(
      definition('a', 15_430, { type: 'scalable', instances: { min: 1, max: 3, playersPerInstance: 50 } }),
      [],
      ours,
    ),
  ).toEqual([
    'run.port: the range of ports 15430 to 15432 holds port 15432 of the embedded PostgreSQL. An instance whose port is taken is not started.',
  ])
  expect(portWarnings(definition('a', 8081), [], ours)).toEqual([])
})

test('a new deployment is given an unused port', () => {
  const taken = [
    { name: 'a', first: 25_565, last: 25_567 },
    { name: 'b', first: 25_568, last: 25_568 },
  ]
  expect(firstFreePort(25_565, taken)).toBe(25_569)
  expect(firstFreePort(25_565, [])).toBe(25_565)
})

test('an instance whose slot has no port left is not started without one', async () => {
  const text =
    'name: far\ntype: scalable\ndataDirectory: /far\nrun: { command: [cat], port: 65534 }\ninstances: { min: 1, max: 2 }\n'
  // It got its slot when the deployment had more instances and a lower port.
  const row = { pod_name: 'far-0a1b2c', slot: 5 } as InstanceRow
  await expect(
    specOf(parseDefinition(text), row, '/', { sharesPorts: true, isolation: 'contained' }),
  ).rejects.toMatchObject({ code: 'CONFLICT', message: 'Its port would be above 65535.' })
})

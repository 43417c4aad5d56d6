import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { lockOwner } from '../../../../src/platform/processLock'
import { HostClient } from '../../../../src/platform/runtime/local/hostClient'
import { withLocalPaths } from '../../../../src/platform/runtime/localPaths'
import { openLocalRuntime } from '../../../../src/platform/runtime/local/localRuntime'
import { stopPlainInstances } from '../../../../src/platform/runtime/openRuntime'
import type { LocalSpec, Runtime } from '../../../../src/platform/runtime/runtime'
import { createReplicas, type Replicas } from '../../../../src/platform/share/replicas/replicas'
import { ANSWERING_PROGRAM, localSpec, pathsIn } from '../../../support/platform/instanceSpec'
import { isGone } from '../../../support/platform/processesOf'
import { stopHost } from '../../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'
import { runtimeSuite } from '../runtimeSuite'

const directory = useTemporaryDirectory()
afterAll(async () => {
  await runtime.close()
  await replicas.close()
  await stopHost(directory())
})
const log = pino({ level: 'silent' })
let runtime: Runtime<LocalSpec>
let replicas: Replicas

beforeAll(async () => {
  replicas = createReplicas(directory(), log)
  runtime = await openLocalRuntime({ dataDir: directory(), replicas })
})

runtimeSuite({
  runtime: () => withLocalPaths(runtime, pathsIn(directory)),
  share: directory,
  home: () => join(directory(), 'suite'),
})

const TICKS = "let n = 0; console.log('pid ' + process.pid); setInterval(() => console.log('tick ' + n++), 5)"
const ticking = (podName: string): LocalSpec =>
  localSpec({ podName, deployment: 'ticking', command: ['node', '-e', TICKS], directory: directory() })
const ticks = async (podName: string) =>
  (await runtime.history(podName, 10_000)).map(({ content }) => content).filter((line) => line.startsWith('tick'))

test('architecture: an instance keeps running while no platform is connected, and none of its lines is lost', async () => {
  await runtime.ensure(ticking('runs-on'))
  const before = await until(
    () => ticks('runs-on'),
    (seen) => seen.length > 5,
  )
  await runtime.close()
  runtime = await openLocalRuntime({ dataDir: directory(), replicas })
  expect(await runtime.list()).toContainEqual(expect.objectContaining({ podName: 'runs-on', state: 'RUNNING' }))
  const after = await until(
    () => ticks('runs-on'),
    (seen) => seen.length > before.length + 5,
  )
  expect(after).toEqual(after.map((_line, at) => `tick ${at}`))
  await runtime.ensure(ticking('runs-on'))
  expect((await runtime.history('runs-on', 10_000)).filter(({ content }) => content.startsWith('pid'))).toHaveLength(1)
  await runtime.kill('runs-on')
})

test('decisions §6: a new platform has 10,000 lines of history after its predecessor was killed', async () => {
  await runtime.ensure({
    ...ticking('history'),
    command: ['node', '-e', "for (let n = 1; n <= 12000; n++) console.log('line ' + n); setInterval(() => {}, 1000)"],
  })
  const end = async () => (await runtime.history('history', 1)).at(-1)?.content
  await until(end, (line) => line === 'line 12000')
  // For the host, which keeps the lines, a kill is the same as a closed connection.
  await runtime.close()
  runtime = await openLocalRuntime({ dataDir: directory(), replicas })
  const lines = await runtime.history('history', 20_000)
  expect(lines.map(({ content }) => content)).toEqual(
    Array.from({ length: 10_000 }, (_line, at) => `line ${2001 + at}`),
  )
  await runtime.kill('history')
})

describe('a long history', () => {
  /** Sends calls to the host as another platform would, and returns the messages of each response. */
  let ask: (id: number, call: string, ...args: unknown[]) => Promise<string[]>
  let asking: Socket

  beforeAll(async () => {
    await runtime.ensure({
      ...ticking('long'),
      command: [
        'node',
        '-e',
        "for (let n = 1; n <= 1500; n++) console.log(n + ' ' + 'x'.repeat(4000)); setInterval(() => {}, 1000)",
      ],
    })
    await until(
      async () => (await runtime.history('long', 1)).at(-1)?.content.slice(0, 5),
      (start) => start === '1500 ',
    )
    const messages: string[] = []
    asking = connect(join(directory(), 'runtime/host.sock'))
    let rest = ''
    asking.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      messages.push(...lines)
    })
    ask = async (id, call, ...args) => {
      asking.write(`${JSON.stringify({ id, call, args })}\n`)
      await until(() => messages.some((message) => message.startsWith(`{"id":${id},"result"`)))
      return messages.splice(0)
    }
  })
  afterAll(async () => {
    asking.destroy()
    await runtime.kill('long')
  })

  test('decisions §6: is sent in pieces, which add up to the same lines, for history and follow', async () => {
    const history = await runtime.history('long', 10_000)
    expect(history.length).toBeGreaterThan(1000)
    const pieces = await ask(1, 'history', 'long', 10_000, 'inPieces')
    expect(pieces.length).toBeGreaterThan(10)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(128 * 1024)
    expect(pieces.flatMap((message) => Object.values(JSON.parse(message) as Record<string, unknown>)[1])).toEqual(
      history,
    )
    expect(await ask(2, 'follow', 'long', 1, 'inPieces')).toHaveLength(pieces.length)
  })

  test('is sent in one message to an older platform, which does not support pieces', async () => {
    expect(
      (await ask(3, 'history', 'long', 10_000)).map((message) => (JSON.parse(message) as { result: unknown }).result),
    ).toEqual([await runtime.history('long', 10_000)])
  })
})

test('a command may be the word by which lines are requested in pieces', async () => {
  const command: LocalSpec['command'] = ['node', '-e', ANSWERING_PROGRAM]
  await runtime.ensure(localSpec({ podName: 'pieces', command, directory: directory() }))
  const prints = (line: string) =>
    until(async () => (await runtime.history('pieces', 10)).some(({ content }) => content === line))
  await prints('Ready')
  expect(await runtime.write('pieces', 'inPieces')).toBe(true)
  await prints('heard inPieces')
  await runtime.kill('pieces')
})

test('a follower that does not read does not block an instance that prints continuously', async () => {
  await runtime.ensure({
    ...ticking('flood'),
    command: [
      'node',
      '-e',
      "let n = 0; setInterval(() => { for (let i = 0; i < 2000; i++) console.log('x'.repeat(200)); console.log('round ' + ++n) }, 5)",
    ],
  })
  // A separate connection that follows and never reads.
  const idle = connect(join(directory(), 'runtime/host.sock'))
  await once(idle, 'connect')
  idle.write(`${JSON.stringify({ id: 1, call: 'follow', args: ['flood', 1] })}\n`)
  idle.pause()
  const round = async () =>
    Number(
      (await runtime.history('flood', 3000))
        .map(({ content }) => /^round (\d+)$/.exec(content)?.[1])
        .findLast(Boolean) ?? 0,
    )
  const first = await until(round)
  await until(round, (now) => now > first + 10)
  idle.destroy()
  await runtime.kill('flood')
})

/** A server that takes a moment to save when it is stopped, and prints that. */
const saving = (podName: string): LocalSpec => ({
  ...ticking(podName),
  command: [
    'node',
    '-e',
    `console.log('pid ' + process.pid); setInterval(() => console.log('tick'), 5); process.on('SIGTERM', () => console.log('terminated'))
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      console.log('heard ' + line); setTimeout(() => { require('node:fs').writeFileSync('${podName}.saved', ''); console.log('saved'); process.exit(0) }, 300) })`,
  ],
  stop: { command: 'stop', timeoutSeconds: 60 },
})
const killHost = () => process.kill(lockOwner(join(directory(), 'runtime', 'instances.lock'))!, 'SIGKILL')
const pidIn = async (podName: string) =>
  Number(
    (
      await until(
        () => runtime.history(podName, 10_000),
        (lines) => lines.length > 3,
      )
    )[0]!.content.slice(4),
  )

test('after the host is killed, the next one stops its instances in order and keeps their last lines and consoles', async () => {
  await runtime.ensure(saving('lost'))
  const pid = await pidIn('lost')
  killHost()
  const run = await until(
    async () => (await runtime.list().catch(() => [])).find(({ podName }) => podName === 'lost'),
    (found) => found?.state === 'EXITED',
  )
  expect(run).toMatchObject({
    exit: { requested: false, failure: 'Ended because the process that hosts the instances ended.' },
  })
  expect(isGone(pid)).toBe(true)
  const history = await runtime.history('lost', 10_000)
  expect(history.map(({ seq }) => seq)).toEqual(history.map((_line, at) => at + 1))
  const printed = history.map(({ content }) => content).filter((line) => !/tick|^pid/.test(line))
  expect(printed).toEqual([
    '[System] The process that hosts the instances ended. This instance is stopped in order.',
    'heard stop',
    'saved',
    '[System] Ended because the process that hosts the instances ended.',
  ])
  expect(
    readdirSync(join(directory(), 'runtime/instances'))
      .filter((name) => name.startsWith('lost'))
      .toSorted(),
  ).toEqual(['lost.json', 'lost.log'])
})

test('instances of a killed host are stopped in order by stop:all and by a platform that uses containers', async () => {
  await runtime.ensure(saving('left'))
  const pid = await pidIn('left')
  await runtime.close()
  killHost()
  const onStopping = jest.fn()
  expect(await stopPlainInstances(directory(), onStopping)).toBe(1)
  expect(onStopping).toHaveBeenCalledWith(1)
  expect(isGone(pid)).toBe(true)
  expect(existsSync(join(directory(), 'left.saved'))).toBe(true)
  runtime = await openLocalRuntime({ dataDir: directory(), replicas })
})

test('security 165: an instance whose record could not be written at its start does not outlive its host unnoticed', async () => {
  const record = join(directory(), 'runtime/instances/unrecorded.json')
  // Writing fails as it does on a full disk.
  mkdirSync(`${record}.new`)
  await runtime.ensure(saving('unrecorded'))
  const pid = await pidIn('unrecorded')
  expect(existsSync(record)).toBe(false)
  rmSync(`${record}.new`, { recursive: true })
  await until(() => existsSync(record))
  killHost()
  await until(
    () => runtime.list().catch(() => []),
    (runs) => runs.some(({ podName, state }) => podName === 'unrecorded' && state === 'EXITED'),
  )
  expect(isGone(pid)).toBe(true)
})

test('a follower refused because the host died gets no lines later', async () => {
  await runtime.note('refused', 'before')
  const host = lockOwner(join(directory(), 'runtime', 'instances.lock'))!
  const heard: string[] = []
  process.kill(host, 'SIGSTOP')
  const following = runtime.follow('refused', 1, (lines) => heard.push(...lines.map(({ content }) => content)))
  const refusal = expect(following).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  process.kill(host, 'SIGKILL')
  await refusal
  await until(() =>
    runtime.note('refused', 'after').then(
      () => true,
      () => false,
    ),
  )
  expect((await runtime.history('refused', 10)).map(({ content }) => content)).toContain('after')
  expect(heard).toEqual([])
  // The console can be followed again.
  const end = await runtime.follow('refused', 1, (lines) => heard.push(...lines.map(({ content }) => content)))
  expect(heard).toEqual(['before', 'after'])
  end()
})

test('security 185: while the host hangs, calls are refused in time, and work again when it goes on', async () => {
  await runtime.list()
  const host = lockOwner(join(directory(), 'runtime', 'instances.lock'))!
  process.kill(host, 'SIGSTOP')
  try {
    await expect(runtime.list()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'The process that runs the instances does not answer. Try again in a moment.',
    })
  } finally {
    process.kill(host, 'SIGCONT')
  }
  expect(await runtime.list()).toEqual(expect.any(Array))
}, 60_000)

test('a host that accepts the connection and ends before it answers is replaced by a new one', async () => {
  const dataDir = join(directory(), 'ending')
  mkdirSync(join(dataDir, 'runtime'), { recursive: true })
  let connections = 0
  const ending = createServer((socket) => {
    connections += 1
    socket.destroy()
    ending.close()
  }).listen(join(dataDir, 'runtime/host.sock'))
  await once(ending, 'listening')
  const other = await openLocalRuntime({ dataDir, replicas })
  expect(await other.list()).toEqual([])
  expect(connections).toBe(1)
  await other.close()
  await stopHost(dataDir)
})

test('a host that accepts the connection and never answers stops the start with one line', async () => {
  const dataDir = join(directory(), 'silent')
  mkdirSync(join(dataDir, 'runtime'), { recursive: true })
  const silent = createServer().listen(join(dataDir, 'runtime/host.sock'))
  await once(silent, 'listening')
  const ended = once(silent, 'connection').then(([socket]) => once((socket as Socket).resume(), 'close'))
  const closed = jest.fn()
  await expect(
    HostClient.open(dataDir, { changed: () => undefined, lines: () => undefined, closed }, 50),
  ).rejects.toMatchObject({
    lines: [
      expect.stringMatching(
        /^The process that hosts the instances does not answer; see .*host\.log\. If it hangs, kill it/,
      ),
    ],
  })
  await ended
  // The client is not asked to reconnect.
  expect(closed).not.toHaveBeenCalled()
  silent.close()
})

describe.each([
  ['is too deep', 'deep'.repeat(30)],
  ['has a name of more bytes than characters and is too deep', 'ä'.repeat(45)],
])('if the data directory %s for a Unix socket', (_what, name) => {
  const deep = () => join(directory(), name)
  const fallback = () =>
    join(tmpdir(), `quarterdeck-${process.getuid!()}-${createHash('sha256').update(deep()).digest('hex').slice(0, 16)}`)
  afterEach(() => rmSync(fallback(), { recursive: true, force: true }))

  test('the socket is in a separate directory that only this user may enter', async () => {
    const other = await openLocalRuntime({ dataDir: deep(), replicas })
    expect(await other.list()).toEqual([])
    expect(lstatSync(fallback()).mode & 0o777).toBe(0o700)
    await other.close()
    await stopHost(deep())
  })

  test.each([
    ['others may enter', () => mkdirSync(fallback(), { mode: 0o755 })],
    ['is a link', () => symlinkSync(directory(), fallback())],
  ])('an existing directory of this name that %s is not trusted', async (_case, make) => {
    make()
    await expect(openLocalRuntime({ dataDir: deep(), replicas })).rejects.toThrow(
      `${fallback()} is not a directory that only its owner may enter: remove it, or choose a shorter QUARTERDECK_DATA_DIR`,
    )
  })

  // Only root may give a directory to another user.
  ;(process.getuid!() === 0 ? test : test.skip)('an existing directory of another user is not trusted', async () => {
    mkdirSync(fallback(), { mode: 0o700 })
    chownSync(fallback(), 1000, 1000)
    await expect(openLocalRuntime({ dataDir: deep(), replicas })).rejects.toThrow(
      `${fallback()} belongs to another user: remove it, or choose a shorter QUARTERDECK_DATA_DIR`,
    )
  })
})

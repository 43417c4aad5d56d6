import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pino from 'pino'
import {
  superviseMongo,
  type MongoProgram,
  type SupervisedMongo,
} from '../../../src/platform/databases/mongo/mongoProgram'
import { isFreePort } from '../../../src/platform/postgres/freePort'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
// A range that the FerretDB instances of other tests do not use.
const FIRST_PORT = 29_700
let logged: { level: number; msg: string; againInMs?: number; err?: { message: string } }[] = []
const log = pino({ level: 'debug' }, { write: (line) => void logged.push(JSON.parse(line) as (typeof logged)[number]) })
let server: SupervisedMongo | undefined
let takers: Server[] = []

beforeEach(() => (logged = []))
afterEach(async () => {
  await server?.stop()
  for (const taker of takers) taker.close()
  takers = []
})

/** Sends its own name to every client, and exits with the system's message if it cannot listen. */
const LISTENS =
  "require('node:net').createServer((socket) => socket.end('us')).on('error', ({ message }) => { console.error(message); process.exit(48) }).listen(Number(process.argv[1]), '127.0.0.1')"

/** @param program for `node -e`; its argument is the port. */
function superviseNode(name: string, program: string, change: Partial<MongoProgram> = {}): SupervisedMongo {
  return (server = superviseMongo(
    {
      path: process.execPath,
      directory: join(directory(), name),
      firstPort: FIRST_PORT,
      claimed: new Set(),
      stopTimeoutMs: 1000,
      prepare: async (port) => ({ args: ['-e', program, String(port)] }),
      whenReady: untilItIsUs,
      ...change,
    },
    log,
  ))
}

async function heardAt(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.on('error', () => undefined).on('data', (data: Buffer) => (heard += data.toString()))
  await once(socket, 'close').catch(() => undefined)
  return heard
}

async function untilItIsUs(port: number, ended: AbortSignal): Promise<void> {
  while ((await heardAt(port)) !== 'us') {
    ended.throwIfAborted()
    await delay(20)
  }
}

async function take(port: number): Promise<void> {
  const taker = createServer((socket) => socket.end('them')).listen(port, '127.0.0.1')
  takers.push(taker)
  await once(taker, 'listening')
}

test('a program moves to another port at once when its port is taken between the check and the start', async () => {
  const tried: number[] = []
  const supervised = superviseNode('taken', LISTENS, {
    async prepare(port) {
      tried.push(port)
      if (tried.length <= 2) await take(port)
      return { args: ['-e', LISTENS, String(port)] }
    },
  })
  await supervised.start()
  expect(tried).toHaveLength(3)
  expect(new Set(tried).size).toBe(3)
  expect(await supervised.port()).toBe(tried[2])
  expect(await heardAt(tried[2]!)).toBe('us')
  // The next start tries first the port that worked.
  await supervised.stop()
  await until(() => isFreePort(tried[2]!))
  await supervised.start()
  expect(tried[3]).toBe(tried[2])
})

test('a program that finds every port taken gives up for now and retries later', async () => {
  let tries = 0
  const supervised = superviseNode('all-taken', LISTENS, {
    async prepare(port) {
      tries += 1
      if (tries <= 5) await take(port)
      return { args: ['-e', LISTENS, String(port)] }
    },
  })
  await expect(supervised.start()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(tries).toBe(5)
  await until(() => tries === 6)
  await supervised.start()
})

test('the delay between failed starts doubles', async () => {
  const starts: number[] = []
  const supervised = superviseNode('fails', 'process.exit(3)', {
    async prepare(port) {
      starts.push(Date.now())
      return { args: ['-e', 'process.exit(3)', String(port)] }
    },
  })
  await expect(supervised.start()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await until(() => starts.length === 3)
  await supervised.stop()
  const waits = logged.flatMap(({ againInMs }) => againInMs ?? [])
  expect(waits.slice(0, 2)).toEqual([1000, 2000])
  expect(starts[1]! - starts[0]!).toBeGreaterThanOrEqual(990)
  expect(starts[2]! - starts[1]!).toBeGreaterThanOrEqual(1990)
})

test('the last output of a program is logged at the same level as its exit', async () => {
  const supervised = superviseNode(
    'speaks',
    "console.log('begins'); console.error('there is no such option'); process.exit(3)",
  )
  await expect(supervised.start()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('see its log for the reason'),
  })
  await supervised.stop()
  const failure = logged.find(({ level, err }) => level === 50 && err)
  expect(failure?.err?.message).toMatch(/^node ended \(exit code 3, signal null\): .*there is no such option$/s)
})

test('security 151: on memory shortage the kernel kills a program of users before instances', async () => {
  let pid = 0
  const supervised = superviseNode('memory', LISTENS.replace("'us'", 'String(process.pid)'), {
    async whenReady(port, ended) {
      while (!(pid = Number(await heardAt(port)))) {
        ended.throwIfAborted()
        await delay(20)
      }
    },
  })
  await supervised.start()
  // That of instances is 500, and those of the platform and of its own databases are lower.
  expect(Number(await readFile(`/proc/${pid}/oom_score_adj`, 'utf8'))).toBe(700)
})

test('a program that exits is started again', async () => {
  const supervised = superviseNode('ends', LISTENS)
  await supervised.start()
  const port = await supervised.port()
  const pid = await pidOf('ends')
  process.kill(pid, 'SIGKILL')
  await until(async () => (await heardAt(port)) === 'us' && (await pidOf('ends')) !== pid)
  expect(logged.flatMap(({ againInMs }) => againInMs ?? [])).toEqual([1000])
})

test('the port of a stopped program stays reserved until its supervisor is closed', async () => {
  const claimed = new Set<number>()
  const first = superviseNode('first', LISTENS, { claimed })
  await first.start()
  const port = await first.port()
  await first.stop()
  await until(() => isFreePort(port))
  const second = superviseNode('second', LISTENS, { claimed })
  await second.start()
  expect(await second.port()).not.toBe(port)
  await first.start()
  expect(await first.port()).toBe(port)

  await first.stop()
  first.releasePort()
  await second.stop()
  await until(() => isFreePort(port))
  const third = superviseNode('third', LISTENS, { claimed })
  await third.start()
  expect(await third.port()).toBe(port)
})

test('a program whose port file is unwritable or incomplete reports its first port until it is running', async () => {
  const file = join(directory(), 'portless/port')
  await mkdir(file, { recursive: true })
  const supervised = superviseNode('portless', LISTENS)
  expect(await supervised.port()).toBe(FIRST_PORT)
  await expect(supervised.start()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(await supervised.port()).toBe(FIRST_PORT)
  await supervised.stop()
  await rm(file, { recursive: true })
  await writeFile(file, '')
  expect(await superviseNode('portless', LISTENS).port()).toBe(FIRST_PORT)
  await server!.start()
  expect(await readFile(file, 'utf8')).toBe(String(await server!.port()))
})

async function pidOf(name: string): Promise<number> {
  return Number((await readFile(join(directory(), name, 'pid'), 'utf8').catch(() => '')).split(' ')[0])
}

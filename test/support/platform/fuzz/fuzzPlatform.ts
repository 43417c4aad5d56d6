import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { WebSocket } from 'ws'
import { startEmbeddedPostgres } from '../../../../src/platform/postgres/embeddedPostgres'
import { collectRoutes } from '../collectRoutes'
import { freshDatabase } from '../freshState'
import { handshakeOf } from '../handshake'
import { heldNow } from '../heldMemory'
import { startPlatform } from '../startPlatform'
import { until } from '../until'
import { definitionText, multipartBody, sampleArchives } from './bodies'
import { createRandom, mutate, type Random } from './random'
import { requestTo, type FuzzedRequest } from './requests'
import { consoleMessage, rawFrame, realtimePacket } from './sockets'

export const FUZZ_KINDS = ['routes', 'multipart', 'definitions', 'archives', 'console', 'realtime'] as const
export type FuzzKind = (typeof FUZZ_KINDS)[number]

export interface FuzzRun {
  /** The number of cases tried before the limit of cases or time was reached. */
  cases: number
  /** The number of responses by status; `none` if the connection closed without one. */
  statuses: Record<string, number>
  /** Responses with 500 and errors in the log, each with the case and its input. */
  findings: string[]
}

export interface Fuzzer {
  /** Tries cases up to a limit of number or time. A case depends only on the seed and its number. */
  run(kind: FuzzKind, limits: { cases: number; seconds: number; first?: number }): Promise<FuzzRun>
  /** Problems of the platform afterwards: a failing call, open or unfinished resources, memory. */
  troubles(): Promise<string[]>
  close(): Promise<void>
}

/** Concurrent requests, from several users; few enough to stay below the limits. */
const AT_ONCE = 4
/** Calls that wait for something, such as a restart, are aborted after this time. */
const PATIENCE_MS = 3000
/** The memory that may be held in addition afterwards, for caches and compiled code. */
const HELD_BYTES = 64 * 2 ** 20

/** Starts a platform with its own PostgreSQL, for malformed input. */
export async function startFuzzer(seed: number): Promise<Fuzzer> {
  const directory = await mkdtemp(join(tmpdir(), 'quarterdeck-fuzz-'))
  const server = await startEmbeddedPostgres(directory, 'databases', pino({ level: 'silent' }))
  const ofTheRun = process.env.TEST_POSTGRES_URL
  process.env.TEST_POSTGRES_URL = server.adminUrl
  const { url: databaseUrl } = await freshDatabase()
  const { started: platform, routes } = await collectRoutes(() =>
    startPlatform({ bodyMs: 500, uploadLimit: 2 ** 20, databaseUrl }),
  )
  const admin = await platform.register('fuzzer')
  await platform.register('bob')
  await platform.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = platform.app.server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const share = join(platform.dataDir, 'nfsshare')
  const { id } = await platform.db
    .selectFrom('users')
    .select('id')
    .where('username', '=', admin.username)
    .executeTakeFirstOrThrow()
  let token = ''

  async function signIn(): Promise<void> {
    token = await platform.sessions.open(
      { id, username: admin.username },
      { address: '127.0.0.1', network: '127.0.0.1', device: 'fuzz' },
    )
  }

  /** Restores what earlier cases have ended, deleted or used up. */
  async function refresh(): Promise<void> {
    await signIn()
    await platform.db.deleteFrom('tries').execute()
    await call('POST', '/api/deployments', { name: 'fuzz', type: 'process' })
    await mkdir(join(share, 'fuzz/b'), { recursive: true }).catch(() => undefined)
    await writeFile(join(share, 'fuzz/a.txt'), 'some text').catch(() => undefined)
    await writeFile(join(share, 'fuzz/b/c.txt'), 'more of it').catch(() => undefined)
    await writeFile(join(share, 'fuzz/a.zip'), archives.zip!).catch(() => undefined)
  }

  const call = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) =>
    platform.call(method, path, { token, body })
  const archives = await sampleArchives()
  await refresh()
  await call('POST', '/api/deployments', { name: 'heard', type: 'process' })
  const program = 'process.stdin.on("data", (data) => process.stdout.write(data))'
  await call('PATCH', '/api/deployments/heard', {
    content: `name: heard\ntype: process\ndataDirectory: /heard\nrun: { command: ["node", "-e", ${JSON.stringify(program)}] }\nstop: { timeoutSeconds: 1 }\n`,
  })
  await call('POST', '/api/deployments/heard/toggle', { enabled: true })
  const instances = async () =>
    (await call('GET', '/api/deployments/heard/instances')).body.data.instances as { podName: string; state: string }[]
  const { podName } = (await until(instances, ([instance]) => instance?.state === 'RUNNING'))[0]!

  /**
   * @returns the status; `none` if the connection closed without a response, `unsendable` if Node.js refuses to send
   * the request
   */
  function send({ method, path, headers, body }: FuzzedRequest): Promise<number | 'none' | 'unsendable'> {
    return new Promise((resolve) => {
      try {
        const sent = request({ host: '127.0.0.1', port, agent, method, path, headers, timeout: PATIENCE_MS })
        let isAnswered = false
        sent.on('response', (response) => {
          isAnswered = true
          response
            .on('data', () => undefined)
            .on('error', () => undefined)
            .on('close', () => resolve(response.statusCode ?? 'none'))
          setTimeout(() => response.destroy(), PATIENCE_MS).unref()
        })
        sent.on('upgrade', (_response, socket) => (socket.destroy(), resolve(101)))
        sent.on('timeout', () => sent.destroy())
        for (const end of ['error', 'close']) sent.on(end, () => isAnswered || resolve('none'))
        sent.end(body)
      } catch {
        resolve('unsendable')
      }
    })
  }

  const bearer = () => ({ authorization: `Bearer ${token}` })
  const json = (path: string, method: string, body: unknown): FuzzedRequest => ({
    method,
    path,
    headers: { ...bearer(), 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  })

  /** A raw websocket after its handshake, which can send invalid frames. */
  async function rawSocket(path: string): Promise<Socket> {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.write(handshakeOf(path, `Host: 127.0.0.1:${port}`, `Cookie: token=${token}`))
    await Promise.race([once(socket, 'data'), once(socket, 'close')])
    return socket
  }

  /** Opens one connection and sends some messages. */
  async function converse(
    path: string,
    random: Random,
    message: (random: Random) => string | Buffer,
    greeting?: string,
  ): Promise<{ result: string; input: string }> {
    if (random.chance(0.4)) {
      const socket = await rawSocket(path)
      const frames = Array.from({ length: 1 + random.int(8) }, () => rawFrame(random))
      for (const frame of frames) if (socket.writable) socket.write(frame)
      socket.end()
      await Promise.race([once(socket.resume(), 'close'), new Promise((resolve) => setTimeout(resolve, 200))])
      socket.destroy()
      return { result: 'frames', input: Buffer.concat(frames).toString('base64') }
    }
    const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, {
      headers: { origin, cookie: `token=${token}` },
    })
    socket.on('error', () => undefined)
    const isOpen = await Promise.race([
      once(socket, 'open').then(
        () => true,
        () => false,
      ),
      once(socket, 'close').then(() => false),
    ])
    if (!isOpen) return { result: 'refused', input: '' }
    if (greeting) socket.send(greeting)
    const messages = Array.from({ length: 1 + random.int(12) }, () => message(random))
    for (const one of messages) socket.send(one, { binary: random.chance(0.2) })
    // A ping is answered after everything that was sent before it has been read.
    socket.ping()
    await Promise.race([once(socket, 'pong').catch(() => undefined), once(socket, 'close')])
    socket.terminate()
    return { result: 'messages', input: JSON.stringify(messages.map(String)) }
  }

  async function tryCase(
    kind: FuzzKind,
    random: Random,
    at: number,
  ): Promise<{ result: string | number; input: string }> {
    const noted = async (sent: FuzzedRequest) => ({
      result: await send(sent),
      input: `${sent.method} ${sent.path} ${JSON.stringify({ ...sent.headers, authorization: '…' })} ${sent.body?.toString('latin1').slice(0, 1500) ?? ''}`,
    })
    switch (kind) {
      case 'routes':
        return noted(requestTo(random, random.pick(routes), token))
      case 'multipart': {
        const { type, body } = multipartBody(random)
        return noted({ method: 'POST', path: '/api/sftp/upload', headers: { ...bearer(), 'content-type': type }, body })
      }
      case 'definitions':
        return noted(json('/api/deployments/fuzz', 'PATCH', { content: definitionText(random) }))
      case 'archives': {
        const kinds = Object.keys(archives)
        const ending = random.pick(kinds)
        const archive = mutate(random, archives[random.chance(0.9) ? ending : random.pick(kinds)]!)
        await mkdir(join(share, 'fuzz'), { recursive: true })
        await writeFile(join(share, `fuzz/${at}.${ending}`), archive)
        const { result } = await noted(json('/api/sftp/unarchive', 'POST', { path: `/nfsshare/fuzz/${at}.${ending}` }))
        for (const name of [`${at}`, `${at}.${ending}`])
          await rm(join(share, 'fuzz', name), { recursive: true, force: true })
        return { result, input: `${ending} ${archive.toString('base64')}` }
      }
      case 'console':
        return converse(`/api/logs/heard/${podName}`, random, consoleMessage)
      case 'realtime':
        return converse('/socket.io/?EIO=4&transport=websocket', random, realtimePacket, '40')
    }
  }

  const errorsLogged = () => platform.logged.splice(0).filter((line) => /"level":(?:50|60)/.test(line))

  const fuzzer: Fuzzer = {
    async run(kind, { cases, seconds, first = 0 }) {
      const run: FuzzRun = { cases: 0, statuses: {}, findings: [] }
      const end = Date.now() + seconds * 1000
      let next = first
      const worker = async () => {
        while (next < first + cases && Date.now() < end) {
          const at = next++
          if (at % 25 === 0) await refresh()
          const { result, input } = await tryCase(kind, createRandom(seed, at), at)
          if (result === 401) await signIn()
          run.cases += 1
          run.statuses[result] = (run.statuses[result] ?? 0) + 1
          const errors = errorsLogged()
          if (result === 500 || errors.length > 0)
            run.findings.push(
              `FUZZ_SEED=${seed} ${kind} case ${at}: ${result}\n  ${input}\n  ${errors.join('  ').slice(0, 3000)}`,
            )
        }
      }
      await Promise.all(Array.from({ length: kind === 'archives' ? 2 : AT_ONCE }, worker))
      return run
    },
    async troubles() {
      agent.destroy()
      const troubles: string[] = []
      const connections = () =>
        new Promise<number>((resolve) => platform.app.server.getConnections((_error, count) => resolve(count)))
      await until(connections, (count) => count === 0, 30).catch(() => troubles.push('connections are still open'))
      await refresh()
      const answer = await call('GET', '/api/deployments')
      if (answer.status !== 200) troubles.push(`a normal call answers ${answer.status}`)
      const saved = await platform.call('POST', '/api/sftp/file', {
        token,
        body: { path: `/nfsshare/after-${Math.random()}`, content: '' },
      })
      if (saved.status !== 201 && saved.status !== 200) troubles.push(`a file cannot be made: ${saved.status}`)
      const unfinished = async () =>
        (await readdir(share, { recursive: true })).filter((name) => name.endsWith('.part'))
      await until(unfinished, (names) => names.length === 0, 30).catch(async () =>
        troubles.push(`unfinished: ${(await unfinished()).join()}`),
      )
      platform.logged.length = 0
      const held = heldNow() - baseline
      if (held > HELD_BYTES) troubles.push(`${Math.round(held / 2 ** 20)} MiB more are held than before`)
      return troubles
    },
    async close() {
      agent.destroy()
      await platform.close()
      await server.stop()
      if (ofTheRun === undefined) delete process.env.TEST_POSTGRES_URL
      else process.env.TEST_POSTGRES_URL = ofTheRun
      await rm(directory, { recursive: true, force: true })
    },
  }
  // Warms up code, pools and caches, which do not count as growth.
  await fuzzer.run('routes', { cases: 50, seconds: 5 })
  platform.logged.length = 0
  const baseline = heldNow()
  return fuzzer
}

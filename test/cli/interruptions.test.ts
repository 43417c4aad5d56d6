import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { rightsOf } from '../support/platform/limitedUsers'
import { usePlatform } from '../support/platform/startPlatform'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'
import { commandLine } from './runCli'

const PROGRAM = `
console.log('Ready')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'flood') for (let at = 1; at <= 30000; at++) console.log('flood ' + at)
  console.log('heard ' + line)
})`

const { platform, account: admin } = usePlatform('ann')
let key: string
/** Answers instead of the platform, if it returns true. */
let answerInstead: (asked: IncomingMessage, reply: ServerResponse) => boolean = () => false
const tunnels = new Set<Socket>()
let admitsConsoles = true
const directory = useTemporaryDirectory()
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port

/** A proxy before the platform, which can lose connections. */
const proxy = createServer((asked, reply) => {
  if (answerInstead(asked, reply)) return
  const { method, url, headers } = asked
  const passed = request({ host: '127.0.0.1', port: portOf(platform().app.server), method, path: url, headers })
  passed.on('error', () => reply.destroy())
  passed.on('response', (answer) => {
    reply.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.on('data', (chunk: Buffer) => reply.write(chunk)).on('end', () => reply.end())
  })
  asked.on('data', (chunk: Buffer) => passed.write(chunk)).on('end', () => passed.end())
})
proxy.on('upgrade', (asked: IncomingMessage, socket: Socket) => {
  if (!admitsConsoles) return void socket.destroy()
  const tunnel = connect(portOf(platform().app.server), '127.0.0.1')
  for (const one of [socket, tunnel]) one.on('error', () => one.destroy())
  const head = asked.rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
  tunnel.write(`GET ${asked.url} HTTP/1.1\r\n${head}\r\n`)
  tunnel.on('data', (chunk) => socket.write(chunk)).on('close', () => socket.destroy())
  socket.on('data', (chunk) => tunnel.write(chunk)).on('close', () => tunnel.destroy())
  tunnels.add(tunnel)
})

const cli = () =>
  commandLine(join(directory(), 'nowhere'), {
    QUARTERDECK_SERVER: `http://127.0.0.1:${portOf(proxy)}`,
    QUARTERDECK_KEY: key,
  })

beforeAll(async () => {
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  key = await rightsOf(platform(), admin()).createKey(admin(), {
    scopes: ['read', 'console', 'power', 'files', 'configuration'],
  })
  const path = join(directory(), 'echo.yaml')
  writeFileSync(
    path,
    `name: echo\ntype: process\ndataDirectory: /echo\nrun:\n  command: [node, -e, ${JSON.stringify(PROGRAM)}]\nready: Ready\n`,
  )
  await cli().ok('apply', '-f', path, '--yes')
  await cli().ok('start', 'echo')
  await until(
    () => cli().ok('logs', 'echo'),
    (text) => text.includes('Ready'),
  )
})
afterEach(() => (answerInstead = () => false))
afterAll(() => {
  proxy.close()
  proxy.closeAllConnections()
})

test('a download whose connection breaks ends with its exit code and leaves nothing under the name of the file', async () => {
  const target = join(directory(), 'down')
  mkdirSync(target)
  writeFileSync(join(platform().dataDir, 'nfsshare/echo/world.bin'), Buffer.alloc(1000, 1))
  answerInstead = ({ url }, reply) => {
    if (!url?.includes('/api/sftp/download?')) return false
    reply.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': 1000 })
    reply.write(Buffer.alloc(500, 1), () => reply.destroy())
    return true
  }
  const { code, stderr } = await cli().run('cp', 'remote:/echo/world.bin', target)
  expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining('cannot be reached') })
  expect(readdirSync(target)).toEqual([])
  answerInstead = () => false
  await cli().ok('cp', 'remote:/echo/world.bin', target)
  expect(readdirSync(target)).toEqual(['world.bin'])
})

test('a command that exceeds the rate limit waits as long as the server says', async () => {
  let refusals = 0
  answerInstead = (_asked, reply) => {
    if (refusals > 0) return false
    refusals += 1
    reply.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' })
    reply.end(JSON.stringify({ success: false, code: 'TOO_MANY_TRIES', message: 'Too many.', error: 'Too many.' }))
    return true
  }
  const { code, stdout, stderr } = await cli().run('ps')
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: expect.stringContaining('echo'),
    stderr: expect.stringContaining('trying again in 1 s'),
  })
  expect(refusals).toBe(1)
})

test('a restart that takes longer than a proxy waits for its response is still watched to its end', async () => {
  const startedAt = async () => {
    const { body } = await platform().call('GET', '/api/deployments/echo/instances', { token: admin().token })
    return (body.data.instances as { startedAt: string }[])[0]?.startedAt
  }
  const before = await startedAt()
  answerInstead = ({ method, url, headers }, reply) => {
    if (!url?.endsWith('/echo/restart')) return false
    // The platform restarts the instance, whether or not anybody waits for the response.
    const passed = request({ host: '127.0.0.1', port: portOf(platform().app.server), method, path: url, headers })
    passed.on('error', () => undefined).end()
    reply.writeHead(504, { 'content-type': 'text/html' }).end('<h1>504 Gateway Time-out</h1>')
    return true
  }
  expect(await cli().run('restart', 'echo')).toMatchObject({ code: 0, stdout: expect.stringMatching(/: RUNNING\n$/) })
  expect(await startedAt()).not.toBe(before)
})

test('logs -f continues after a lost connection without missing or repeating a line', async () => {
  const { child, said, ended } = cli().start('logs', '-f', 'echo')
  await until(() => said.stdout.includes('Ready'))
  await cli().ok('send', 'echo', 'before')
  await until(() => said.stdout.includes('heard before'))
  for (const tunnel of tunnels) tunnel.destroy()
  await cli().ok('send', 'echo', 'meanwhile')
  await until(() => said.stdout.includes('heard meanwhile'))
  await cli().ok('send', 'echo', 'after')
  await until(() => said.stdout.includes('heard after'))
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  const heard = said.stdout.split('\n').filter((line) => line.includes('heard'))
  expect(heard.map((line) => line.slice(line.indexOf('heard')))).toEqual([
    'heard before',
    'heard meanwhile',
    'heard after',
  ])
})

test('logs -f reports how many lines are missing when the console no longer keeps them', async () => {
  const text = cli().start('logs', '-f', 'echo')
  const json = cli().start('logs', '-f', '--json', 'echo')
  await cli().ok('send', 'echo', 'last')
  for (const { said } of [text, json]) await until(() => said.stdout.includes('heard last'))
  admitsConsoles = false
  for (const tunnel of tunnels) tunnel.destroy()
  await until(() => text.said.stderr.includes('the connection was lost'))
  // Not through the proxy.
  const direct = commandLine(join(directory(), 'nowhere'), {
    QUARTERDECK_SERVER: `http://127.0.0.1:${portOf(platform().app.server)}`,
    QUARTERDECK_KEY: key,
  })
  await direct.ok('send', 'echo', 'flood')
  await until(
    () => direct.ok('logs', 'echo', '--lines', '1'),
    (line) => line.includes('heard flood'),
  )
  admitsConsoles = true
  for (const { said } of [text, json]) await until(() => said.stdout.includes('heard flood'), Boolean, 120)
  for (const { child, ended } of [text, json]) {
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  }
  const missing = Number(/^-- (\d+) lines are missing here --$/m.exec(text.said.stderr)?.[1])
  const shown = text.said.stdout.split('\n').filter((line) => line.startsWith('flood '))
  expect(missing).toBeGreaterThan(0)
  expect(shown).toEqual(Array.from({ length: 30_000 - missing }, (_line, at) => `flood ${missing + at + 1}`))
  const entries = json.said.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; lines?: number; seq?: number })
  const at = entries.findIndex(({ type }) => type === 'gap')
  expect(entries.filter(({ type }) => type === 'gap')).toEqual([{ type: 'gap', lines: missing }])
  const before = entries.slice(0, at).findLast(({ seq }) => seq !== undefined)
  expect(entries[at + 1]).toMatchObject({ type: 'line', seq: before!.seq! + missing + 1 })
}, 240_000)

test('logs ends silently when the program that reads its output ends, such as head', async () => {
  const { child, said, ended } = cli().start('logs', '-f', 'echo')
  await once(child.stdout, 'data')
  child.stdout.destroy()
  await until(async () => {
    if (child.exitCode === null) await cli().ok('send', 'echo', 'more')
    return child.exitCode !== null
  })
  expect([await ended, said.stderr]).toEqual([0, ''])
})

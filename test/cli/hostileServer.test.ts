import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { boundedResponse } from '../../src/cli/api/boundedResponse'
import { colouredText, plainText } from '../../src/cli/terminal/text'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'
import { commandLine } from './runCli'

type Answer = (asked: IncomingMessage, reply: ServerResponse) => void

const directory = useTemporaryDirectory()
let answer: Answer = () => undefined
const server = createServer((asked, reply) => answer(asked, reply))
const json = (reply: ServerResponse, data: unknown, status = 200) =>
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ success: true, data }))

beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

const cli = () =>
  commandLine(join(directory(), 'nowhere'), {
    QUARTERDECK_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    QUARTERDECK_KEY: `qd_${'a'.repeat(40)}`,
  })

function writeWithoutEnd(stream: Duplex | ServerResponse): void {
  const chunk = Buffer.alloc(2 ** 20, ' ')
  const write = () => {
    while (!stream.destroyed && stream.write(chunk));
  }
  stream.on('error', () => undefined).on('drain', write)
  write()
}

test.each([200, 500])(
  'security 93: an endless response with the status %d is aborted',
  async (status) => {
    answer = (_asked, reply) => writeWithoutEnd(reply.writeHead(status, { 'content-type': 'application/json' }))
    expect(await cli().run('ps')).toMatchObject({ code: 1, stderr: expect.stringContaining('is larger than') })
  },
  20_000,
)

test('security 93: a response that is never completed is aborted', async () => {
  let isCancelled = false
  const stalled = new ReadableStream<Uint8Array>({
    start: (body) => body.enqueue(Buffer.from('{')),
    cancel: () => void (isCancelled = true),
  })
  await expect(boundedResponse(new Response(stalled), { maxMs: 50 })).rejects.toThrow('does not end its response')
  expect(isCancelled).toBe(true)
  const whole = await boundedResponse(new Response('{"a":1}', { status: 418 }), { maxMs: 50 })
  expect([whole.status, await whole.json()]).toEqual([418, { a: 1 }])
})

test('security 93: an upload fails when the server refuses its files again and again because of a limit', async () => {
  let forms = 0
  answer = (asked, reply) => {
    if (!asked.url?.endsWith('/upload')) return json(reply, { files: [], deploymentTypeIndex: null })
    forms += 1
    asked.resume().on('end', () => json(reply.setHeader('retry-after', '-1'), {}, 429))
  }
  mkdirSync(directory(), { recursive: true })
  writeFileSync(join(directory(), 'file.txt'), 'text')
  expect((await cli().run('cp', join(directory(), 'file.txt'), 'remote:/lobby')).code).toBe(1)
  expect(forms).toBe(11)
})

test('security 246: a server that does not answer delays the completion of names by a few seconds only', async () => {
  answer = () => undefined
  const { child, said, ended } = cli().start('--get-yargs-completions', 'quarterdeck', 'logs', '')
  const code = await Promise.race([ended, delay(15_000, 'still running', { ref: false })])
  child.kill()
  expect({ code, ...said }).toEqual({ code: 0, stdout: '', stderr: '' })
}, 30_000)

test.each([
  ['does not answer', () => undefined],
  [
    'lets calls wait for its limit',
    (reply: ServerResponse) => void json(reply.setHeader('retry-after', '60'), {}, 429),
  ],
])(
  'Ctrl+C ends cp while the server %s',
  async (_case, reply) => {
    let calls = 0
    answer = (_asked, given) => {
      calls += 1
      reply(given)
    }
    const { child, ended } = cli().start('cp', 'remote:/lobby', directory())
    await until(() => calls > 0)
    await delay(300)
    child.kill('SIGINT')
    const code = await Promise.race([ended, delay(10_000, 'still running', { ref: false })])
    child.kill('SIGKILL')
    expect(code).toBe(130)
  },
  30_000,
)

const lobby = { name: 'lobby', typeIndex: 1, enabled: true, path: '/nfsshare/lobby', dataDirectory: '/lobby' }

describe('a response that no console sends', () => {
  const FORMS = [
    '<html>Welcome</html>',
    '',
    'null',
    '[]',
    '"text"',
    '{"success":true}',
    '{"success":true,"data":null}',
    '{"success":true,"data":{}}',
    '{"success":true,"data":{"deployments":[null],"instances":{},"files":"","token":7,"credentials":[]}}',
    '{"success":true,"data":{"deployments":[{"name":1}],"instances":[{"podName":[]}],"files":[{}],"username":{}}}',
  ]
  const commands = () => {
    const file = join(directory(), 'lobby.yaml')
    writeFileSync(file, 'name: lobby\ntype: process\ndataDirectory: /lobby\nrun:\n  command: [sleep, "600"]\n')
    return [
      ['GET /api/deployments', 'ps'],
      ['GET /api/deployments', 'start', 'lobby'],
      ['GET /api/deployments/lobby', 'apply', '-f', file, '--yes'],
      ['POST /api/database/sql', 'db', 'create', 'sql', 'stats'],
      ['GET /api/sftp/files', 'cp', 'remote:/lobby/a.txt', directory()],
      ['GET /api/deployments/lobby/instances', 'stop', 'lobby'],
    ] as const
  }

  test.each([0, 1, 2, 3, 4, 5])(
    'security 93: to the request of command %# is reported with the request and a remedy',
    async (at) => {
      mkdirSync(directory(), { recursive: true })
      const [call, ...args] = commands()[at]!
      for (const form of at === 0 ? FORMS : FORMS.slice(-2)) {
        answer = ({ url = '' }, reply) => {
          if (call.endsWith('/instances') && !url.includes('/instances'))
            return json(reply, { deployments: [{ ...lobby, instances: [] }] })
          reply.writeHead(200, { 'content-type': 'application/json' }).end(form)
        }
        const { code, stderr } = await cli().run(...args)
        expect([form, code, stderr]).toEqual([
          form,
          1,
          expect.stringContaining(`answered ${call} with 200, but not as`),
        ])
        expect(stderr).toContain('Check the address')
        expect(stderr.trim().split('\n')).toHaveLength(1)
      }
    },
  )

  test.each([
    ['null', 404],
    ['{"success":false,"message":{}}', 500],
    ['<html>', 403],
  ])('security 93: with the body %s and the status %d is reported with a readable message', async (form, status) => {
    for (const [, ...args] of commands()) {
      answer = (_asked, reply) => reply.writeHead(status, { 'content-type': 'application/json' }).end(form)
      const { code, stderr } = await cli().run(...args)
      expect([args, code !== 0, stderr]).toEqual([
        args,
        true,
        expect.not.stringMatching(/TypeError|undefined|Cannot|\[object/),
      ])
    }
  })
})

/** Answers the calls that precede a console with running instances. */
function answerWithInstances(...ids: string[]): void {
  const instances = ids.map((id) => ({
    uid: randomUUID(),
    name: `${id}-lobby`,
    podName: `lobby-${id}`,
    deployment: 'lobby',
    type: 'process',
    state: 'RUNNING',
    ip: '127.0.0.1',
    connections: 0,
    uptime: '1s',
    cpu: 0,
    memory: { used: 0, total: 1 },
  }))
  const deployments = [{ ...lobby, instances }]
  answer = ({ url = '' }, reply) => {
    if (url.startsWith('/api/account')) return json(reply, { role: 'operator', grants: [], id: 1, username: 'ann' })
    json(reply, url.endsWith('/instances') ? { instances } : { deployments })
  }
}

test('security 93: a console that the server closes at once is reopened with growing delays', async () => {
  answerWithInstances('1a2b3c')
  const sockets = new WebSocketServer({ noServer: true })
  const openedAt: number[] = []
  server.on('upgrade', (asked, socket, head) =>
    sockets.handleUpgrade(asked, socket, head, (client) => {
      openedAt.push(performance.now())
      // The first one serves what is asked for before anything is followed.
      client.on('ping', () => setImmediate(() => client.close(1013)))
      if (openedAt.length > 1) client.close(1013)
    }),
  )
  const { child, ended } = cli().start('logs', '-f', 'lobby')
  await until(() => openedAt.length >= 5, Boolean, 20)
  expect(openedAt[4]! - openedAt[0]!).toBeGreaterThan(1500)
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  server.removeAllListeners('upgrade')
}, 30_000)

test('a drain of a deployment requests all its instances, and names those that were refused with the reasons', async () => {
  answerWithInstances('1a2b3c', '4d5e6f', '7a8b9c', '0d1e2f')
  const sockets = new WebSocketServer({ noServer: true })
  const drained: string[] = []
  server.on('upgrade', (asked, socket, head) => {
    const podName = asked.url!.split('/').at(-1)!
    if (podName === 'lobby-7a8b9c') return void socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n')
    sockets.handleUpgrade(asked, socket, head, (client) =>
      client.on('message', (data: Buffer) => {
        const { ref } = JSON.parse(data.toString()) as { ref: string }
        if (podName !== 'lobby-1a2b3c') drained.push(podName)
        const failure = { code: 'CONFLICT', message: 'The instance is not running.' }
        client.send(JSON.stringify({ type: 'answer', ref, ...(podName === 'lobby-1a2b3c' && { failure }) }))
      }),
    )
  })
  expect(await cli().run('drain', 'lobby')).toEqual({
    code: 1,
    stdout: '',
    stderr: [
      'drain failed for 2 of 4 instances, and was requested for the others:',
      'lobby-1a2b3c: The instance is not running.',
      'lobby-7a8b9c: There is no instance lobby-7a8b9c.',
    ]
      .map((line) => `quarterdeck: ${line}\n`)
      .join(''),
  })
  expect(drained).toEqual(['lobby-4d5e6f', 'lobby-0d1e2f'])
  server.removeAllListeners('upgrade')
}, 30_000)

test('logs -f reports a skipped line once, by the numbers of the lines around it', async () => {
  answerWithInstances('1a2b3c')
  const sockets = new WebSocketServer({ noServer: true })
  server.once('upgrade', (asked, socket, head) =>
    sockets.handleUpgrade(asked, socket, head, (client) => {
      client.send(JSON.stringify({ type: 'message', seq: 1, content: 'first' }))
      setTimeout(() => {
        client.send(JSON.stringify({ type: 'system', content: '[System] 1 line skipped' }))
        client.send(JSON.stringify({ type: 'message', seq: 3, content: 'third' }))
      }, 1000)
    }),
  )
  const { child, ended, said } = cli().start('logs', '-f', 'lobby')
  await until(() => said.stdout.includes('third'))
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  expect(said.stderr).toBe('-- 1 line is missing here --\n')
}, 30_000)

test('security 93: the time for a line of output grows linearly with its length, whatever it contains', () => {
  // With quadratic time it would take minutes.
  const line = `\u001b${'#;'.repeat(2 ** 18)}m`
  expect(plainText(line)).toHaveLength(line.length - 3)
  expect(colouredText(line)).toBe(plainText(line))
})

test.each([
  ['\u001b[2Ja\u001b[?25lb\u009b5nc', 'abc'],
  ['\u001b]0;title\u0007a\u001b]52;c;aGk=\u001b\\b\u001bPq\u009cc', 'abc'],
  ['\u001b]0;without an end', '0;without an end'],
  ['\u001bca\u001b(0b\u001b', 'ab'],
  ['a\r\u0008\u007f\u202eb\tc', 'ab\tc'],
])('the output %j is shown in a terminal as %j', (text, shown) => {
  expect(plainText(text)).toBe(shown)
})

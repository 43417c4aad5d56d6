import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { truncate, writeFile } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { RIGHTS } from '../../../../src/contract/pageRules'
import {
  OWN_DEFINITION,
  ownFile,
  questionsOf,
  type Operation,
  type Pair,
  type Place,
  type Question,
} from '../../../support/platform/callQuestions'
import { useGuest } from '../../../support/platform/limitedUsers'
import { testPostgres, type Answer } from '../../../support/platform/startPlatform'
import { until } from '../../../support/platform/until'

const { platform, admin, guest, rights } = useGuest(['own', 'treasure', 'inner'], () => ({ sql: testPostgres() }))
let port: number
let things: Record<Place, Pair[]>
let own: Partial<Record<Place, string>>
let operations: Operation[]

const instanceOf = async (deployment: string) => {
  const { body } = await platform().call('GET', `/api/deployments/${deployment}/instances`, { token: admin().token })
  return (body.data.instances as { podName: string; uid: string }[])[0]
}

beforeAll(async () => {
  const asAdmin = async (method: 'GET' | 'POST' | 'PATCH', url: string, body?: object) => {
    const answer = await platform().call(method, url, { token: admin().token, body })
    expect({ url, success: answer.body.success }).toEqual({ url, success: true })
    return answer.body.data
  }
  // One directory of others is inside of the user's own.
  await asAdmin('PATCH', '/api/deployments/inner', {
    content: "name: inner\ntype: process\ndataDirectory: /own/cellar\nrun:\n  command: [sleep, '600']\n",
  })
  await asAdmin('POST', '/api/sftp/file', { path: '/nfsshare/own/cellar/secret.txt', content: '' })
  await asAdmin('POST', '/api/sftp/file', { path: '/nfsshare/loose.txt', content: '' })
  await asAdmin('POST', '/api/database/sql', { name: 'treasure' })
  await rights().setAccess('guest', { role: 'limited', grants: [{ deployment: 'own', rights: [...RIGHTS] }] })
  for (const name of ['own', 'treasure']) await asAdmin('POST', `/api/deployments/${name}/toggle`, { enabled: true })
  const ofOthers = (await until(() => instanceOf('treasure')))!
  const mine = (await until(() => instanceOf('own')))!
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  port = (platform().app.server.address() as AddressInfo).port
  const { sessions } = (await asAdmin('GET', '/api/sessions')) as { sessions: { id: string }[] }
  const { info } = (await asAdmin('POST', '/api/keys', { name: 'of others', scopes: ['read'] })) as {
    info: { id: string }
  }
  const { code } = (await asAdmin('POST', '/api/invite-codes', { message: 'for others' })) as { code: string }
  const { authenticators } = (await asAdmin('GET', '/api/account/methods')) as { authenticators: { id: string }[] }
  const like = (id: string): Pair => [id, randomUUID()]
  const absentPod = ofOthers.podName.replaceAll('treasure', 'nowhere0').replaceAll(/^[0-9a-f]{6}/g, 'ffffff')
  things = {
    deployment: [
      ['treasure', 'nowhere0'],
      ['inner', 'outer'],
    ],
    pod: [
      [ofOthers.podName, absentPod],
      ['treasure', 'nowhere0'],
    ],
    instance: [like(ofOthers.uid)],
    path: [
      ...['', '/', '/own.txt', '/missing.txt', '/missing/own.txt', '/own.txt/below', '/../treasure'].map(
        (rest): Pair => [`/nfsshare/treasure${rest}`, `/nfsshare/nowhere0${rest.replace('treasure', 'nowhere0')}`],
      ),
      ['/nfsshare/own/../treasure/own.txt', '/nfsshare/own/../nowhere0/own.txt'],
      ['/nfsshare/loose.txt', '/nfsshare/gone0.txt'],
      ['/nfsshare/own/cellar/secret.txt', '/nfsshare/own/attic0/secret.txt'],
      ['/nfsshare/own/cellar/missing.txt', '/nfsshare/own/attic0/missing.txt'],
      ['/nfsshare/own/cellar', '/nfsshare/own/attic0'],
    ],
    user: [['1', '9']],
    username: [['admin', 'nimda']],
    session: [like(sessions[0]!.id)],
    key: [like(info.id)],
    job: [like(await holdJob())],
    method: [like(authenticators[0]!.id)],
    database: [['treasure', 'nowhere0']],
    invite: [[code, 'AAAA-BBBB-CCCC']],
    definition: ['name: NAME', 'dataDirectory: /NAME', 'dataDirectory: /NAME/own', 'replicas: { of: NAME }'].map(
      (line): Pair => {
        const [field] = line.split(':')
        const kept = OWN_DEFINITION.split('\n').filter((each) => !each.startsWith(`${field}:`))
        const text = [line, ...kept].join('\n')
        return [text.replaceAll('NAME', 'treasure'), text.replaceAll('NAME', 'nowhere0')]
      },
    ),
    text: [['treasure', 'nowhere0']],
  }
  own = { deployment: 'own', instance: mine.uid, pod: mine.podName, path: ownFile.path, user: '2' }
  const document = (await platform().app.inject({ url: '/api/openapi.json' })).json<{
    paths: Record<string, Record<string, Omit<Operation, 'method' | 'url'>>>
  }>()
  operations = Object.entries(document.paths).flatMap(([url, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), url })),
  )
})

/** Starts a job of the administrator that takes longer than the test. @returns its id */
async function holdJob(): Promise<string> {
  const big = join(platform().dataDir, 'nfsshare/treasure/big')
  await writeFile(big, '')
  await truncate(big, 512 * 2 ** 30)
  void platform().call('POST', '/api/sftp/archive', { token: admin().token, body: { path: '/nfsshare/treasure/big' } })
  const jobs = async () =>
    (await platform().call('GET', '/api/sftp/jobs', { token: admin().token })).body.data.jobs as { id: string }[]
  return (await until(async () => (await jobs())[0]))!.id
}

/** A response without what differs between any two calls, and with the same name for both values of the pair. */
function comparable({ status, headers, body }: Pick<Answer, 'status' | 'headers'> & { body?: unknown }, pair: Pair) {
  const { 'x-request-id': _id, date: _date, ratelimit: _limit, ...others } = headers
  let text = JSON.stringify({ status, headers: others, body })
  for (const thing of pair) text = text.replaceAll(JSON.stringify(thing).slice(1, -1), 'NAME')
  return JSON.parse(text.replaceAll(/treasure|nowhere0|cellar|attic0|loose|gone0/g, 'NAME')) as object
}

async function ask({ method, url, body, headers }: Question, token: string): Promise<Answer> {
  return platform().call(method as 'GET', url, { token, body, ...(headers && { headers }) })
}

const upload = (path: string, token: string) =>
  ask(
    {
      method: 'POST',
      url: '/api/sftp/upload',
      headers: { 'content-type': 'multipart/form-data; boundary=edge' },
      body: [
        `--edge\r\nContent-Disposition: form-data; name="path"\r\n\r\n${path}\r\n`,
        '--edge\r\nContent-Disposition: form-data; name="files"; filename="new.txt"\r\n\r\nhello\r\n--edge--\r\n',
      ].join(''),
    },
    token,
  )

/** Asks for a WebSocket without a client library. @returns the refusal, or status 101 for an open socket */
async function upgrade(path: string, token: string): Promise<Pick<Answer, 'status' | 'headers'>> {
  const asked = request({
    host: '127.0.0.1',
    port,
    path,
    headers: {
      authorization: `Bearer ${token}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  })
  asked.on('upgrade', (_response, socket) => {
    socket.destroy()
    asked.emit('response', { statusCode: 101, headers: {}, resume: () => undefined })
  })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return { status: response.statusCode!, headers: response.headers }
}

const consolesOf = (): { pair: Pair; paths: [string, string] }[] => {
  const [pod] = things.pod
  const ways: [Pair, (thing: string) => string][] = [
    ...['', '?since=1', '?since=999999999', '/', '/../..'].flatMap((rest): [Pair, (thing: string) => string][] => [
      [pod!, (thing) => `/api/logs/${thing.includes('treasure') ? 'treasure' : 'nowhere0'}/${thing}${rest}`],
      [pod!, (thing) => `/api/logs/own/${thing}${rest}`],
      [things.deployment[0]!, (thing) => `/api/logs/${thing}/${own.pod}${rest}`],
    ]),
    [things.deployment[1]!, (thing) => `/api/logs/${thing}/${thing}`],
  ]
  return ways.map(([pair, path]) => ({ pair, paths: [path(pair[0]), path(pair[1])] }))
}

/** Sends a message in the caller's own console. @returns the response */
async function messageInOwnConsole(token: string, message: object): Promise<string> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/logs/own/${own.pod}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const frames: string[] = []
  socket.on('message', (data) => frames.push((data as Buffer).toString()))
  await once(socket, 'open')
  socket.send(JSON.stringify(message))
  // Answers come in order.
  socket.send(JSON.stringify({ type: 'command', command: 'end', ref: 'end' }))
  await until(() => frames.some((frame) => frame.includes('"ref":"end"')))
  socket.terminate()
  return frames.filter((frame) => frame.includes('[System]') || frame.includes('"ref":"one"')).join('\n')
}

describe.each([
  ['a limited user', async () => guest().token],
  [
    'an API key for another deployment',
    () =>
      rights().createKey(admin(), {
        scopes: ['read', 'console', 'power', 'files', 'configuration', 'metrics'],
        deployments: ['own'],
      }),
  ],
])('decisions §16: %s with hand-written calls', (_who, tokenOf) => {
  test('security 86: cannot find out with 200 calls and sockets whether names, ids and paths of others exist', async () => {
    const asked = new Set<string>()
    const differences: unknown[] = []
    const compare = (what: string, pair: Pair, one: Parameters<typeof comparable>[0], other: typeof one) => {
      asked.add(what)
      const answers = [comparable(one, pair), comparable(other, pair)]
      if (one.status === 429 || JSON.stringify(answers[0]) !== JSON.stringify(answers[1]))
        differences.push({ what, answers })
    }
    let token = ''
    let count = 0
    for (const operation of operations)
      for (const { pair, questions } of questionsOf(operation, things, own)) {
        // A new key before the limit of calls of a key.
        if (count++ % 200 === 0) token = await tokenOf()
        const [one, other] = [await ask(questions[0], token), await ask(questions[1], token)]
        const { method, url, body } = questions[0]
        compare(`${method} ${url} ${JSON.stringify(body)}`, pair, one, other)
      }
    for (const { pair, paths } of consolesOf())
      compare(paths[0], pair, await upgrade(paths[0], token), await upgrade(paths[1], token))
    for (const pair of things.path) {
      const [into, absent] = [await upload(pair[0], token), await upload(pair[1], token)]
      compare(`POST /api/sftp/upload into ${pair[0]}`, pair, into, absent)
      const [one, other] = await Promise.all(
        pair.map(async (path) => {
          const ticket = await ask(
            { method: 'POST', url: '/api/sftp/download-ticket', body: { path: ownFile.path } },
            token,
          )
          const search = new URLSearchParams({ path, token: String(ticket.body.data.token) })
          return ask({ method: 'GET', url: `/api/sftp/download?${String(search)}` }, token)
        }),
      )
      compare(`GET /api/sftp/download of ${pair[0]}`, pair, one!, other!)
    }
    expect(differences).toEqual([])
    expect(asked.size).toBeGreaterThanOrEqual(200)
  })

  test('security 86: learns nothing from messages in their own console that name instances of others', async () => {
    const token = await tokenOf()
    for (const [ofOthers, absent] of [...things.deployment, ...things.pod])
      for (const message of [
        (name: string) => ({ type: 'power', action: 'drainAndStop', deployment: name, ref: 'one' }),
        (name: string) => ({ type: 'command', command: '', podName: name, ref: 'one' }),
        (name: string) => ({ type: 'watch', deployment: name, podName: name, ref: 'one' }),
        (name: string) => ({ type: 'search', text: name, ref: 'one' }),
      ]) {
        const [one, other] = [
          await messageInOwnConsole(token, message(ofOthers)),
          await messageInOwnConsole(token, message(absent)),
        ]
        expect(one).not.toBe('')
        expect(one.replaceAll(ofOthers, 'NAME')).toBe(other.replaceAll(absent, 'NAME'))
      }
  })

  test('has changed no file, definition or instance of others', async () => {
    const read = async (path: string) =>
      (
        await platform().call('GET', `/api/sftp/file/content?path=${encodeURIComponent(path)}`, {
          token: admin().token,
        })
      ).body.data.content
    expect(await read('/nfsshare/treasure/own.txt')).toBe('of treasure')
    expect(await read('/nfsshare/own/own.txt')).toBe('of own')
    expect(await read('/nfsshare/own/cellar/secret.txt')).toBe('')
    expect((await instanceOf('treasure'))?.uid).toBe(things.instance[0]![0])
  })
})

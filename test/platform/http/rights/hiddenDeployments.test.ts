import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket } from 'ws'
import { RIGHTS } from '../../../../src/contract/pageRules'
import { freePort } from '../../../support/platform/freePort'
import { useGuest } from '../../../support/platform/limitedUsers'
import type { Answer, TestPlatform } from '../../../support/platform/startPlatform'
import { until } from '../../../support/platform/until'

/** A deployment that the limited user must not know of, and a name that no deployment has. */
const HIDDEN = 'treasure'
const ABSENT = 'nowhere0'

const { platform, admin, guest, rights } = useGuest(['own', HIDDEN, 'inner'])
let key: string
let hidden: { podName: string; uid: string }
let port: number

beforeAll(async () => {
  // One directory of others is inside of the user's own.
  await platform().call('PATCH', '/api/deployments/inner', {
    token: admin().token,
    body: { content: "name: inner\ntype: process\ndataDirectory: /own/cellar\nrun:\n  command: [sleep, '600']\n" },
  })
  await platform().call('POST', '/api/sftp/file', {
    token: admin().token,
    body: { path: '/nfsshare/own/cellar/secret.txt', content: '' },
  })
  await rights().setAccess('guest', { role: 'limited', grants: [{ deployment: 'own', rights: [...RIGHTS] }] })
  key = await rights().createKey(admin(), {
    scopes: ['read', 'console', 'power', 'files', 'configuration', 'metrics'],
    deployments: ['own'],
  })
  for (const name of ['own', HIDDEN])
    await platform().call('POST', `/api/deployments/${name}/toggle`, { token: admin().token, body: { enabled: true } })
  const running = () => platform().call('GET', `/api/deployments/${HIDDEN}/instances`, { token: admin().token })
  await until(async () => (await running()).body.data.instances instanceof Array && (await instancesOf(running)) > 0)
  hidden = ((await running()).body.data.instances as (typeof hidden)[])[0]!
  await platform().app.listen({ host: '127.0.0.1', port: 0 })
  port = (platform().app.server.address() as AddressInfo).port
})

const instancesOf = async (read: () => Promise<Answer>) => ((await read()).body.data.instances as unknown[]).length

const path = (name: string, rest = '') => encodeURIComponent(`/nfsshare/${name}${rest}`)
const named = (name: string) => ({ path: `/nfsshare/${name}/own.txt`, name: 'own.txt' })

/** Every way to ask for something by the name of a deployment or a path. */
const questions: [
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: (name: string) => string,
  body?: (name: string) => object,
][] = [
  ['GET', (name) => `/api/deployments/${name}`],
  ['GET', (name) => `/api/deployments/${name}/instances`],
  ['GET', (name) => `/api/deployments/${name}/instances/00000000-0000-4000-8000-000000000000/crash`],
  ['PATCH', (name) => `/api/deployments/${name}`, (name) => ({ content: `name: ${name}` })],
  ['DELETE', (name) => `/api/deployments/${name}`],
  ['POST', (name) => `/api/deployments/${name}/toggle`, () => ({ enabled: false })],
  ['POST', (name) => `/api/deployments/${name}/restart`],
  ['GET', (name) => `/api/discovery?deployment=${name}`],
  ['GET', (name) => `/api/discovery?deployment=own&deployment=${name}`],
  ['GET', (name) => `/api/metrics/cpu?pod=${name}-0`],
  ['GET', (name) => `/api/metrics/memory?pod=${name}`],
  ...['', '/', '/own.txt', '/missing.txt', '/missing/own.txt', '/own.txt/below'].flatMap((rest): typeof questions => [
    ['GET', (name) => `/api/sftp/files?path=${path(name, rest)}`],
    ['GET', (name) => `/api/sftp/file/content?path=${path(name, rest)}`],
    ['DELETE', (name) => `/api/sftp/file?path=${path(name, rest)}`],
    ['DELETE', (name) => `/api/sftp/directory?path=${path(name, rest)}`],
    ['POST', () => '/api/sftp/file', (name) => ({ path: `/nfsshare/${name}${rest}`, content: '' })],
    ['POST', () => '/api/sftp/directory', (name) => ({ path: `/nfsshare/${name}${rest}` })],
    ['PATCH', () => '/api/sftp/file/content', (name) => ({ path: `/nfsshare/${name}${rest}`, content: 'x' })],
    ['POST', () => '/api/sftp/archive', (name) => ({ path: `/nfsshare/${name}${rest}` })],
    ['POST', () => '/api/sftp/download-ticket', (name) => ({ path: `/nfsshare/${name}${rest}` })],
    [
      'POST',
      () => '/api/sftp/move',
      (name) => ({ sourcePath: `/nfsshare/${name}${rest}`, targetPath: '/nfsshare/own/stolen' }),
    ],
    [
      'POST',
      () => '/api/sftp/move',
      (name) => ({ sourcePath: '/nfsshare/own/own.txt', targetPath: `/nfsshare/${name}${rest}` }),
    ],
  ]),
  ['POST', () => '/api/sftp/unarchive', (name) => ({ path: `/nfsshare/${name}/a.zip` })],
  ['POST', () => '/api/sftp/archive-multiple', (name) => ({ files: [named(name)] })],
  ['POST', () => '/api/sftp/download-multiple', (name) => ({ files: [named(name)] })],
  ['POST', () => '/api/sftp/download-multiple', (name) => ({ files: [named('own'), named(name)] })],
]

/** A response without what differs between any two calls, and with one name for both deployments. */
const comparable = ({ status, headers, body }: Answer) => {
  const { 'x-request-id': _id, date: _date, ratelimit: _limit, ...others } = headers
  return JSON.parse(JSON.stringify({ status, headers: others, body }).replaceAll(/treasure|nowhere0/g, 'NAME')) as Pick<
    Answer,
    'status'
  >
}

describe.each([
  ['a limited user', () => guest().token],
  ['an API key for another deployment', () => key],
])('decisions §16: %s', (_who, token) => {
  test('cannot find out with any call whether a deployment or a path of others exists', async () => {
    for (const [method, url, body] of questions) {
      const [about, without] = await Promise.all(
        [HIDDEN, ABSENT].map((name) => platform().call(method, url(name), { token: token(), body: body?.(name) })),
      )
      expect({ method, url: url('NAME'), answer: comparable(about!) }).toEqual({
        method,
        url: url('NAME'),
        answer: comparable(without!),
      })
      expect(`${url('NAME')} ${[403, 404, 200, 400].includes(about!.status)}`).toBe(`${url('NAME')} true`)
    }
    expect((await platform().call('GET', `/api/metrics/cpu?pod=${hidden.podName}`, { token: token() })).status).toBe(
      404,
    )
    // All is still there.
    const { body } = await platform().call('GET', `/api/sftp/file/content?path=${path(HIDDEN, '/own.txt')}`, {
      token: admin().token,
    })
    expect(body.data.content).toBe(`of ${HIDDEN}`)
  })

  test('finds no deployment of others in any list', async () => {
    for (const url of [
      '/api/deployments',
      '/api/deployments?instances=true',
      '/api/deployments/own',
      '/api/deployments/own/instances',
      `/api/sftp/files?path=${path('own')}`,
      '/api/sftp/jobs',
      '/api/network/getManagerTimestamp',
      '/api/account',
    ]) {
      const { status, body } = await platform().call('GET', url, { token: token() })
      expect(`${url} ${status}`).toBe(`${url} 200`)
      expect(JSON.stringify(body)).not.toMatch(/treasure|inner|cellar/)
    }
    for (const url of ['/api/sftp/files?path=%2Fnfsshare', '/api/sftp/files?path=%2Fnfsshare%2F'])
      expect((await platform().call('GET', url, { token: token() })).status).toBe(404)
  })

  test('cannot open a console of others', async () => {
    for (const target of [`${HIDDEN}/${hidden.podName}`, `own/${hidden.podName}`, `${ABSENT}/${ABSENT}-0`]) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/api/logs/${target}`, {
        headers: { authorization: `Bearer ${token()}` },
      })
      socket.on('error', () => undefined)
      const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }]
      expect(`${target} ${response.statusCode}`).toBe(`${target} 404`)
    }
  })

  test('cannot move, delete, archive or download a directory that contains a directory of others', async () => {
    const whole = { path: '/nfsshare/own', name: 'own' }
    const calls: [Parameters<TestPlatform['call']>[0], string, object?][] = [
      ['POST', '/api/sftp/archive', { path: '/nfsshare/own' }],
      ['POST', '/api/sftp/download-multiple', { files: [whole] }],
      ['POST', '/api/sftp/archive-multiple', { files: [whole] }],
      ['POST', '/api/sftp/move', { sourcePath: '/nfsshare/own', targetPath: '/nfsshare/own/own' }],
      ['DELETE', `/api/sftp/directory?path=${path('own')}`],
      ['GET', `/api/sftp/files?path=${path('own', '/cellar')}`],
      ['DELETE', `/api/sftp/directory?path=${path('own', '/cellar')}`],
      ['POST', '/api/sftp/archive', { path: '/nfsshare/own/cellar' }],
      ['POST', '/api/sftp/file', { path: '/nfsshare/own/cellar/mine.txt', content: '' }],
    ]
    for (const [method, url, body] of calls) {
      const { status } = await platform().call(method, url, { token: token(), body })
      expect(`${method} ${url} ${status}`).toBe(`${method} ${url} 404`)
    }
  })
})

test('security 86: no reason, error or console reveals which deployment of others has a port', async () => {
  const taken = await freePort()
  const program = `require('node:net').createServer().listen(${taken}, '127.0.0.1', () => console.log('listens'))`
  const instances = async (name: string) =>
    (await platform().call('GET', `/api/deployments/${name}/instances`, { token: admin().token })).body.data
      .instances as {
      podName: string
      state: string
      blockedReason?: string
    }[]
  const start = async (name: string, state: string) => {
    await rights().deploy([name])
    const content = `name: ${name}\ntype: process\ndataDirectory: /${name}\nrun: { command: [node, -e, ${JSON.stringify(program)}], port: ${taken} }\nready: listens\n`
    await platform().call('PATCH', `/api/deployments/${name}`, { token: admin().token, body: { content } })
    await platform().call('POST', `/api/deployments/${name}/toggle`, { token: admin().token, body: { enabled: true } })
    return (
      await until(
        () => instances(name),
        ([first]) => first?.state === state,
      )
    )[0]!
  }
  await start(`${HIDDEN}-cove`, 'RUNNING')
  const { podName, blockedReason } = await start('blocked', 'BLOCKED')
  expect(blockedReason).toContain(`the deployment "${HIDDEN}-cove"`)
  await rights().setAccess('guest', { role: 'limited', grants: [{ deployment: 'blocked', rights: [...RIGHTS] }] })
  const ofKey = await rights().createKey(admin(), { scopes: ['read', 'console', 'power'], deployments: ['blocked'] })
  const hiddenReason = `Port ${taken} is taken by another program.`
  for (const token of [guest().token, ofKey]) {
    const answers = [
      await platform().call('GET', '/api/deployments/blocked/instances', { token }),
      await platform().call('GET', '/api/deployments?instances=true', { token }),
      await platform().call('POST', '/api/deployments/blocked/restart', { token }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 409])
    for (const { body } of answers) {
      expect(JSON.stringify(body)).toContain(hiddenReason)
      expect(JSON.stringify(body)).not.toContain(HIDDEN)
    }
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/logs/blocked/${podName}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    let shown = ''
    socket.on('message', (data) => (shown += (data as Buffer).toString()))
    await until(() => shown.includes(`[System] Blocked: ${hiddenReason}`))
    socket.close()
    expect(shown).not.toContain(HIDDEN)
  }
})

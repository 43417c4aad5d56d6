import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { rateLimits } from '../../../src/platform/accounts/rateLimits'
import { isOfThisMachine } from '../../../src/platform/http/proxies/localConnections'
import { FIRST_USER_ID } from '../../../src/platform/share/ownership'
import { isRoot } from '../../support/platform/canContain'
import { useSockets } from '../../support/platform/rawConnections'
import { startPlatform, type TestPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const testAsRoot = isRoot ? test : test.skip
const instance = FIRST_USER_ID + 3
const ownName = `user ${instance} of this machine`
const tries = rateLimits.invite.tries

const connectTo = useSockets()
let platform: TestPlatform | undefined
let port: number
afterEach(async () => {
  await platform?.close()
  platform = undefined
})

async function listen(claimsContained: boolean): Promise<void> {
  platform = await startPlatform({ claimsContained, trustedProxies: ['127.0.0.0/8', '::1'] })
  await platform.app.listen({ host: '::', port: 0 })
  port = (platform.app.server.address() as AddressInfo).port
}

/**
 * Sends wrong invite codes, and replaces `#` in the forwarded address by the number of the try. @returns how many were
 * checked.
 */
const GUESS = `
  const [host, count, forwarded] = process.argv.slice(1)
  const guess = async (number) => {
    const headers = { 'content-type': 'application/json', ...(forwarded && { 'x-forwarded-for': forwarded.replace('#', number) }) }
    const { status } = await fetch(host + '/api/auth/verify-invite', { method: 'POST', headers, body: JSON.stringify({ inviteCode: 'none-' + number }) })
    return status
  }
  const guessAll = async () => {
    let wrong = 0
    for (let number = 1; number <= Number(count); number++) if ((await guess(number)) !== 429) wrong += 1
    console.log(wrong)
  }
  guessAll()
`
async function guess(uid: number, host: string, count: number, forwarded = ''): Promise<number> {
  const child = spawn(process.execPath, ['-e', GUESS, `http://${host}:${port}`, String(count), forwarded], {
    uid,
    gid: uid,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return Number(await text(child.stdout))
}

const addresses = async () => [
  ...new Set((await platform!.db.selectFrom('activity').select('address').execute()).map(({ address }) => address)),
]

testAsRoot(
  'an instance on this machine is not a trusted proxy, has its own limits, and is logged with its user',
  async () => {
    await listen(true)
    expect(await guess(instance, '127.0.0.1', tries + 2, '192.0.2.#')).toBe(tries)
    // By any address of this machine.
    expect(await guess(instance, '127.0.0.2', 2, '192.0.2.#')).toBe(0)
    if (
      Object.values(networkInterfaces())
        .flat()
        .some((own) => own?.address === '::1')
    )
      expect(await guess(instance, '[::1]', 2, '192.0.2.#')).toBe(0)
    expect(await until(addresses)).toEqual([ownName])
    expect(await guess(instance + 1, '127.0.0.1', 1)).toBe(1)
    // A proxy, and a user of this machine.
    expect(await guess(0, '127.0.0.1', tries + 2, '192.0.2.#')).toBe(tries + 2)
    expect(await guess(0, '127.0.0.1', 1)).toBe(1)
    // A client that reaches the proxy from this machine may be an instance, so its own X-Forwarded-For is ignored.
    expect(await guess(0, '127.0.0.1', tries + 2, '198.51.100.#, 127.0.0.9')).toBe(tries)
  },
  60_000,
)

testAsRoot('a half-closed connection whose user cannot be determined is not a trusted proxy', async () => {
  await listen(true)
  const body = JSON.stringify({ inviteCode: 'none-at-all' })
  const socket = connectTo(platform!.app)
  socket.end(
    `POST /api/auth/verify-invite HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n${body}`,
  )
  // Node.js does not answer a half-closed connection.
  await text(socket)
  expect(await until(async () => (await addresses())[0])).toBe('unknown user of this machine')
  expect(platform!.logged.filter((line) => line.includes('cannot determine the user'))).toHaveLength(1)
})

testAsRoot('a connection that is reset before its user is known does not disturb the platform', async () => {
  await listen(true)
  for (let count = 0; count < 20; count++) {
    const socket = connectTo(platform!.app)
    await once(socket, 'connect')
    socket.write('GET /api/health HTTP/1.1\r\n')
    socket.resetAndDestroy()
  }
  expect((await fetch(`http://127.0.0.1:${port}/api/health`)).status).toBe(200)
})

test('the start warns about a trusted proxy on this machine if its connections cannot be distinguished from those of instances', async () => {
  await listen(false)
  expect(platform!.logged.filter((line) => line.includes('contains an address of this machine'))).toHaveLength(1)
})

test.each([
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::ffff:127.0.0.1', true],
  ['::1', true],
  ['192.0.2.1', false],
  ['::ffff:192.0.2.1', false],
  ['2001:db8::1', false],
  ['no address', false],
  [undefined, false],
])('%s is an address of this machine: %s', (address, isOwn) => {
  expect(isOfThisMachine(address)).toBe(isOwn)
})

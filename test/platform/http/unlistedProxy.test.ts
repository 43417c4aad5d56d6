import Fastify from 'fastify'
import { createTrustedProxies } from '../../../src/platform/accounts/clientAddress'
import { warnOfUnlistedProxies } from '../../../src/platform/http/proxies/unlistedProxy'

test('the log warns about X-Forwarded-For from unlisted addresses, once per address and for at most five', async () => {
  const logged: { msg: string; address: string }[] = []
  const app = Fastify({
    logger: {
      level: 'warn',
      stream: { write: (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[0]) },
    },
  })
  warnOfUnlistedProxies(app, createTrustedProxies(['10.0.0.1']))
  app.get('/', () => 'here')
  const call = (remoteAddress: string, headers: Record<string, string>) =>
    app.inject({ url: '/', remoteAddress, headers })
  const forwarded = { 'x-forwarded-for': '192.0.2.1' }
  await call('10.0.0.1', forwarded)
  await call('10.0.0.2', {})
  expect(logged).toEqual([])
  for (const remoteAddress of ['10.0.0.2', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6', '10.0.0.7'])
    await call(remoteAddress, forwarded)
  expect(logged.map(({ address }) => address)).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6'])
  expect(logged[0]!.msg).toContain('that is not in QUARTERDECK_TRUSTED_PROXIES')
  await app.close()
})

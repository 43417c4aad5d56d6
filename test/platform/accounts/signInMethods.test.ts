import { startPlatform, useEmptyPlatform } from '../../support/platform/startPlatform'

const platform = useEmptyPlatform()

test.each([
  ['localhost:8080', {}, true],
  ['panel.example', { origin: 'https://panel.example' }, true],
  ['panel.example', { origin: 'http://panel.example' }, false],
  ['panel.example', {}, false],
  ['panel.example', { origin: 'https://other.example' }, false],
  ['192.0.2.1', { origin: 'https://192.0.2.1' }, false],
  ['[2001:db8::1]:8080', { origin: 'https://[2001:db8::1]:8080' }, false],
])('at %s with %j passkeys are offered: %s', async (host, headers, passkeys) => {
  const { body } = await platform().call('GET', '/api/auth/methods', { headers: { host, ...headers } })
  expect(body.data).toEqual({ passkeys })
})

test('with a public address, pages of other origins are offered none', async () => {
  const published = await startPlatform({ environment: { QUARTERDECK_PUBLIC_URL: 'https://panel.example' } })
  const offered = async (headers: Record<string, string>) =>
    (await published.call('GET', '/api/auth/methods', { headers })).body.data
  expect(await offered({ origin: 'https://panel.example' })).toEqual({ passkeys: true })
  expect(await offered({})).toEqual({ passkeys: true })
  for (const origin of ['https://evil.example', 'null', 'https://panel.example:8443'])
    expect(await offered({ origin })).toEqual({ passkeys: false })
  await published.close()
})

import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { useEmptyPlatform } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const platform = useEmptyPlatform()

test('a platform that is not healthy is logged once, however often its health is requested, and once when it is healthy again', async () => {
  const marker = join(platform().dataDir, 'nfsshare/.quarterdeck-share')
  const health = () => platform().call('GET', '/api/health')
  const logged = (text: string) => platform().logged.filter((line) => line.includes(text)).length
  expect((await health()).status).toBe(200)

  renameSync(marker, `${marker}.away`)
  await until(health, ({ status }) => status === 503)
  expect((await health()).body).toMatchObject({ message: 'Not ready: share' })
  await health()
  expect(logged('not healthy')).toBe(1)

  renameSync(`${marker}.away`, marker)
  await until(health, ({ status }) => status === 200)
  expect(logged('healthy again')).toBe(1)
})

test('security 58: caches never store responses of the API', async () => {
  const { headers } = await platform().call('GET', '/api/health')
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
})

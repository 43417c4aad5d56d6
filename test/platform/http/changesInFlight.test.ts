import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useDeploymentCalls } from '../../support/platform/deploymentCalls'
import { withClient } from '../../support/platform/postgresClients'
import { until } from '../../support/platform/until'

const { platform, ann, call } = useDeploymentCalls()

const toggle = () => call('POST', '/lobby/toggle', { enabled: false })

/** Holds the deployment's row, so that no change of it ends before `work` has. */
const withLockedRow = (work: () => Promise<void>) =>
  withClient(platform().state.url, async (client) => {
    await client.query('BEGIN')
    await client.query("SELECT FROM deployments WHERE name = 'lobby' FOR UPDATE")
    await work()
    await client.query('COMMIT')
  })

beforeAll(async () => {
  expect((await call('POST', '', { name: 'lobby', type: 'process' })).status).toBe(201)
})

test('security 158: of hundreds of changes of a user, two hundred are in flight at a time, and the rest are refused', async () => {
  const refused: unknown[] = []
  let flood: Promise<number>[] = []
  await withLockedRow(async () => {
    flood = Array.from({ length: 300 }, async () => {
      const { status, headers, body } = await toggle()
      if (status === 429) refused.push([headers['retry-after'], body.message])
      return status
    })
    await until(() => refused.length === 100)
  })
  expect(refused[0]).toEqual(['1', '200 of your calls are in progress. Try again when some of them have finished.'])
  const statuses = await Promise.all(flood)
  expect(statuses.filter((status) => status === 200)).toHaveLength(200)
  expect(await toggle()).toMatchObject({ status: 200 })
})

test('security 158: a change counts until it has ended, even after its client has disconnected', async () => {
  await platform().app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = platform().app.server.address() as AddressInfo
  let refused = 0
  const connections = () =>
    new Promise<number>((resolve, reject) =>
      platform().app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  await withLockedRow(async () => {
    const requests = Array.from({ length: 201 }, () => {
      const sent = request({
        port,
        method: 'POST',
        path: '/api/deployments/lobby/toggle',
        headers: { authorization: `Bearer ${ann().token}`, 'content-type': 'application/json' },
      })
      sent.on('error', () => undefined)
      sent.on('response', ({ statusCode }) => {
        if (statusCode === 429) refused += 1
      })
      sent.end('{"enabled":false}')
      return sent
    })
    await until(() => refused === 1)
    for (const sent of requests) sent.destroy()
    await until(async () => (await connections()) === 0)
    expect(await toggle()).toMatchObject({ status: 429 })
  })
  await until(async () => (await toggle()).status === 200)
})

import { useDeploymentCalls } from '../../support/platform/deploymentCalls'
import { withClient } from '../../support/platform/postgresClients'
import { until } from '../../support/platform/until'

const { platform, call } = useDeploymentCalls()

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
    await until(() => refused.length > 0)
  })
  expect(refused[0]).toEqual(['1', '200 of your calls are in progress. Try again when some of them have finished.'])
  const statuses = await Promise.all(flood)
  expect(statuses.filter((status) => status !== 429).length).toBeGreaterThanOrEqual(200)
  expect(await toggle()).toMatchObject({ status: 200 })
})

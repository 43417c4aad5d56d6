import { screen, waitFor, within } from '@testing-library/react'
import { replayLog } from '../../../../src/web/actionLog/replay/checkLog'
import { readLog } from '../../../../src/web/actionLog/replay/readLog'
import { recorderOf } from '../../../../src/web/actionLog/record/record'
import { replayReducer } from '../../../../src/web/actionLog/replay/replayReducer'
import { writeLog } from '../../../../src/web/actionLog/export/writeLog'
import { renderDatabases } from '../../../support/web/databasesPage'
import { databaseOf } from '../../../support/web/factories'

const secretly = (name: string, password: string) =>
  databaseOf(name, {
    credentials: {
      username: `canary-user-${name}`,
      password,
      host: 'canary-host',
      port: 5432,
      database: name,
      connectionString: `postgresql://${password}`,
    },
  })

test('decisions §10: the action log of the databases page contains no credentials and replays to the same state', async () => {
  const before = secretly('shop', 'canary-before')
  const made = secretly('made', 'canary-made')
  const { network, store, user, open, card } = renderDatabases({ sql: [before] })
  recorderOf(store)
  await user.click(within(await open('shop')).getByRole('button', { name: 'Show password' }))
  await user.click(screen.getByRole('tab', { name: 'Connection Info' }))
  expect(await card('shop')).toHaveTextContent('canary-before')

  network.post('/api/database/sql').answers(made)
  network.get('/api/database/sql').answers({ databases: [before, made] })
  await user.click(screen.getByRole('button', { name: 'Create SQL database' }))
  await user.type(await screen.findByLabelText('Database name'), 'made{Enter}')
  await card('made')

  network.patch('/api/database/sql/shop').answers(secretly('shop', 'canary-after'))
  network.get('/api/database/sql').answers({ databases: [secretly('shop', 'canary-after'), made] })
  await user.click(screen.getByRole('button', { name: 'Reset password of shop' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Reset' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())

  network.delete('/api/database/sql/made').answers(500, { message: 'Not now' })
  await user.click(screen.getByRole('button', { name: 'Delete made' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
  await screen.findByText('Not now')

  const text = JSON.stringify(
    writeLog(
      recorderOf(store).recording(),
      { build: 'test', exportedAt: 0, viewport: { width: 1440, height: 900 }, route: '/databases' },
      replayReducer,
    ),
  )
  expect(text).not.toMatch(/canary/)
  const log = readLog(text)
  expect(replayLog(log, replayReducer)).toMatchObject({ deviations: [], final: [] })
  expect(log.final).toMatchObject({
    databases: { expanded: ['sql/shop', 'sql/made'], dialog: { kind: 'delete', type: 'sql', name: 'made' } },
  })
})

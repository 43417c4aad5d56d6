import pino from 'pino'
import { openStateDatabase } from '../../../src/platform/state/db'
import { openNotifications, type Notifications } from '../../../src/platform/state/notifications'
import { freshState, type FreshState } from '../../support/platform/freshState'
import { withClient } from '../../support/platform/postgresClients'
import { until } from '../../support/platform/until'

let state: FreshState
let one: Notifications
let two: Notifications

beforeEach(async () => {
  state = await freshState()
  const open = () => openNotifications(state.db, state.url, pino({ level: 'silent' }))
  one = await open()
  two = await open()
})
afterEach(async () => {
  await Promise.all([one.close(), two.close()])
  await state.close()
})

const LISTENERS = "select pid from pg_stat_activity where query like 'listen %' and datname = current_database()"

async function listeners(): Promise<number[]> {
  return (await state.pool.query<{ pid: number }>(LISTENERS)).rows.map(({ pid }) => pid)
}

test('a notification of one replica reaches every replica, and its sender at once', async () => {
  await until(async () => (await listeners()).length === 2)
  const heard: string[] = []
  one.on('sync', (data) => heard.push(`one ${data}`))
  two.on('sync', (data) => heard.push(`two ${data}`))
  const times: number[] = []
  for (let count = 0; count < 20; count++) {
    const since = performance.now()
    one.publish('sync', `${count}`)
    expect(heard).toContain(`one ${count}`)
    await until(() => heard.includes(`two ${count}`))
    times.push(performance.now() - since)
  }
  // Its own it may hear again.
  expect(new Set(heard).size).toBe(40)
  expect(two.latest('sync')).toBe('19')
  // Reading without a message takes up to 750 ms.
  expect(times.sort((a, b) => a - b)[10]).toBeLessThan(300)
})

test('a replica that was disconnected receives the latest notification that it missed', async () => {
  await until(async () => (await listeners()).length === 2)
  const heard: (string | undefined)[] = []
  two.on('sync', (data) => heard.push(data))
  await state.pool.query(`select pg_terminate_backend(pid) from (${LISTENERS}) listening`)
  one.publish('sync', 'first')
  one.publish('sync', 'last')
  await until(() => heard.at(-1) === 'last')
  await until(async () => (await listeners()).length === 2)
})

test('what a replica publishes right before it is closed reaches the others', async () => {
  const heard: (string | undefined)[] = []
  two.on('sync', (data) => heard.push(data))
  two.on('jobs', (data) => heard.push(data))
  one.publish('sync', 'first')
  one.publish('jobs', 'second')
  one.publish('sync', 'last')
  await one.close()
  await until(() => heard.includes('last') && heard.includes('second'))
})

test('security 217: notifications arrive after the state was replaced by an older copy of it', async () => {
  const heard: (string | undefined)[] = []
  two.on('sync', (data) => heard.push(data))
  for (let count = 0; count < 5; count++) {
    one.publish('sync', `${count}`)
    await until(() => heard.at(-1) === `${count}`)
  }
  await state.pool.query('update notifications set version = 1')
  one.publish('sync', 'after')
  await until(() => heard.at(-1) === 'after', Boolean, 10)
})

test('security 153: while PostgreSQL accepts no messages of LISTEN and NOTIFY, notifications arrive all the same', async () => {
  await state.pool.query('set allow_system_table_mods = on; alter function pg_notify(text, text) rename to full_queue')
  const heard: (string | undefined)[] = []
  two.on('sync', (data) => heard.push(data))
  one.publish('sync', 'first')
  await until(() => heard.at(-1) === 'first')
  one.publish('sync', 'last')
  await until(() => heard.at(-1) === 'last')
})

test('a notification that is repeated while it is being sent is sent again', async () => {
  one.publish('sessions')
  // By now it is being sent.
  await new Promise(setImmediate)
  one.publish('sessions')
  const version = async () => (await state.db.selectFrom('notifications').selectAll().execute())[0]?.version
  await until(async () => (await version()) === '2')
})

test('every replica receives the latest of many concurrent notifications', async () => {
  const count = { one: 0, two: 0 }
  one.on('instances', () => (count.one += 1))
  two.on('instances', () => (count.two += 1))
  for (let round = 0; round < 200; round++) for (const replica of [one, two]) replica.publish('instances')
  for (let round = 0; round < 10; round++) {
    one.publish('sync', `one ${round}`)
    two.publish('sync', `two ${round}`)
  }
  await until(() => one.latest('sync') === two.latest('sync') && /9$/.test(one.latest('sync') ?? ''))
  expect(count.one).toBeGreaterThanOrEqual(200)
  expect(count.two).toBeGreaterThanOrEqual(200)
})

test('notifications are delivered after an outage of the state', async () => {
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(line) })
  const impatient = await openStateDatabase(state.url, 500)
  const sender = await openNotifications(impatient.db, state.url, log)
  try {
    await withClient(state.url, async (client) => {
      await client.query('begin')
      await client.query('lock table notifications in access exclusive mode')
      sender.publish('sync', 'late')
      await until(() => warnings.some((line) => line.includes('other replicas cannot be reached')))
      expect(two.latest('sync')).toBeUndefined()
      await client.query('rollback')
      await until(() => two.latest('sync') === 'late')
    })
  } finally {
    await sender.close()
    await impatient.close()
  }
})

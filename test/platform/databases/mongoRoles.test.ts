import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import pino from 'pino'
import { createMongoRoles } from '../../../src/platform/databases/mongo/mongoRoles'
import type { DatabaseServer, ServerDatabase } from '../../../src/platform/databases/databaseServer'
import { imitateMongo, type ImitatedMongo } from '../../support/platform/imitatedMongo'
import { until } from '../../support/platform/until'

let server: ImitatedMongo
let driver: DatabaseServer
const open = () =>
  createMongoRoles({
    url: async () => server.url,
    title: 'The MongoDB server',
    remedy: 'Start it.',
    log: pino({ level: 'silent' }),
  })
const databaseCalled = (name: string): ServerDatabase => ({ id: randomUUID(), physical_name: name, username: name })

beforeEach(async () => {
  server = await imitateMongo()
  driver = open()
})
afterEach(async () => {
  await driver.close()
  await server.close()
})

/** The content of the server in a comparable form. */
const content = () => ({ users: [...server.users], roles: [...server.roles], databases: [...server.databases] })

test('decisions §8: a user has readWrite on its own database and no other role', async () => {
  const plots = databaseCalled('plots')
  await driver.create(plots, 'first password')
  const mark = `quarterdeck-${plots.id}`
  expect([...server.users]).toEqual([['plots.plots', { pwd: 'first password', roles: [{ role: mark, db: 'plots' }] }]])
  expect([...server.roles]).toEqual([[`plots.${mark}`, [{ role: 'readWrite', db: 'plots' }]]])
})

test('sizes and numbers of collections are reported; a database without collections does not exist yet', async () => {
  const [used, unused] = [databaseCalled('used'), databaseCalled('unused')]
  await driver.create(used, 'a')
  await driver.create(unused, 'b')
  server.databases.set('used', ['plots', 'visits', 'system.views'])
  expect(await driver.stats([used, unused])).toEqual(
    new Map([
      [used.id, { size: 12_288, tables: 2 }],
      [unused.id, { size: 0, tables: 0 }],
    ]),
  )
})

test('a server that does not answer for single databases delays the list of hundreds by ten seconds at most', async () => {
  const many = Array.from({ length: 60 }, (_database, at) => databaseCalled(`plots-${at}`))
  for (const { physical_name } of many) server.databases.set(physical_name, ['plots'])
  server.unanswered.add('listCollections')
  const since = performance.now()
  const stats = await driver.stats(many)
  expect(performance.now() - since).toBeLessThan(15_000)
  expect([...stats.values()]).toEqual(many.map(() => ({ size: 4096 })))
  server.unanswered.clear()
  expect([...(await driver.stats(many)).values()]).toEqual(many.map(() => ({ size: 4096, tables: 1 })))
  expect(server.connections()).toBeLessThan(15)
}, 60_000)

test('a reset recreates the user, which ends the rights of open connections', async () => {
  const plots = databaseCalled('plots')
  await driver.create(plots, 'first password')
  server.changes.length = 0
  await driver.setPassword(plots, 'second password')
  expect(server.changes).toEqual(['dropUser', 'killAllSessions', 'createUser'])
  expect(server.users.get('plots.plots')!.pwd).toBe('second password')
})

test('a delete removes the user first and the marker last', async () => {
  const before = content()
  const plots = databaseCalled('plots')
  await driver.create(plots, 'a')
  server.databases.set('plots', ['data'])
  server.changes.length = 0
  await driver.remove(plots)
  expect(server.changes).toEqual(['dropUser', 'killAllSessions', 'dropDatabase', 'dropRole'])
  expect(content()).toEqual(before)
  await driver.remove(plots)
  expect(content()).toEqual(before)
})

test('a database or user that the console did not create keeps its name and is not touched', async () => {
  server.databases.set('Theirs', ['data'])
  server.users.set('shop.app', { pwd: 'theirs', roles: [] })
  const before = content()
  for (const name of ['Theirs', 'theirs', 'shop', 'admin', 'local', 'config']) {
    const database = databaseCalled(name)
    await expect(driver.create(database, 'a')).rejects.toMatchObject({ code: 'NAME_TAKEN' })
    await expect(driver.setPassword(database, 'a')).rejects.toMatchObject({ code: 'CONFLICT' })
    await driver.remove(database)
  }
  expect(content()).toEqual(before)
})

test('security 47: a change interrupted after any of its commands can be repeated or undone', async () => {
  const changes: [string, (on: DatabaseServer, plots: ServerDatabase) => Promise<void>][] = [
    ['create', (on, plots) => on.create(plots, 'first')],
    ['setPassword', (on, plots) => on.setPassword(plots, 'second')],
    ['remove', (on, plots) => on.remove(plots)],
  ]
  for (const [name, change] of changes) {
    for (let at = 1; ; at++) {
      const before = content()
      const plots = databaseCalled(`${name}_${at}`)
      if (name !== 'create') {
        await driver.create(plots, 'first')
        server.databases.set(plots.physical_name, ['data'])
      }
      // The driver first asks which server it is.
      const mortal = open()
      server.breakAfter(at)
      await change(mortal, plots).catch(() => undefined)
      const isOver = !server.isBroken()
      server.mend()
      await mortal.close()
      if (name === 'setPassword') {
        await driver.setPassword(plots, 'second')
        expect(server.users.get(`${plots.physical_name}.${plots.username}`)).toMatchObject({ pwd: 'second' })
        expect(server.databases.get(plots.physical_name)).toEqual(['data'])
      }
      await driver.remove(plots)
      expect({ name, at, ...content() }).toEqual({ name, at, ...before })
      if (isOver) {
        expect(at).toBeGreaterThan(4)
        break
      }
    }
  }
})

test('concurrent calls share one client, also after the server has moved, and no connection is left open', async () => {
  const next = await imitateMongo()
  let { url } = server
  const moving = createMongoRoles({
    url: async () => url,
    title: 'The MongoDB server',
    remedy: 'Start it.',
    log: pino({ level: 'silent' }),
  })
  const ask = () => Promise.all([moving.stats([]), moving.stats([]), moving.stats([])])
  try {
    await ask()
    url = next.url
    await ask()
    await until(() => server.connections() === 0)
    expect(next.connections()).toBeGreaterThan(0)
    await moving.close()
    await until(() => next.connections() === 0, Boolean, 5)
  } finally {
    await moving.close()
    await next.close()
  }
})

test('a URL that the driver cannot parse fails, and a correct URL works afterwards', async () => {
  let url = 'mongodb://?'
  const moving = createMongoRoles({
    url: async () => url,
    title: 'The MongoDB server',
    remedy: 'Start it.',
    log: pino({ level: 'silent' }),
  })
  await expect(moving.stats([])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  ;({ url } = server)
  expect(await moving.stats([])).toEqual(new Map())
  await moving.close()
})

describe('the connection details of a database:', () => {
  const plots = { id: randomUUID(), physical_name: 'plots', username: 'plots' }
  const addressAt = (url: string) =>
    createMongoRoles({
      url: async () => url,
      title: 'The MongoDB server',
      remedy: 'Start it.',
      log: pino({ level: 'silent' }),
    }).address(plots, 'theirs')

  test.each([
    ['mongodb://admin:hush@db.example', 'db.example', 27_017],
    ['mongodb://admin:hush@db.example:4711/admin?authSource=admin&directConnection=true', 'db.example', 4711],
    ['mongodb://[::1]:4711/', '[::1]', 4711],
  ])('%s gives host and port', async (url, host, port) => {
    expect(await addressAt(url)).toEqual({ host, port })
  })

  test.each([
    [
      'mongodb+srv://admin:hush@cluster.example/?retryWrites=true',
      'mongodb+srv://plots:theirs@cluster.example/plots?retryWrites=true&authSource=plots',
    ],
    [
      'mongodb://admin:hush@db.example/?TLS=true&replicaSet=rs0',
      'mongodb://plots:theirs@db.example/plots?TLS=true&replicaSet=rs0&authSource=plots',
    ],
    [
      'mongodb://admin:hush@one:4711,two,[::3]:4713/admin',
      'mongodb://plots:theirs@one:4711,two,[::3]:4713/plots?authSource=plots',
    ],
  ])('%s gives a connection string', async (url, connectionString) => {
    expect(await addressAt(url)).toMatchObject({ connectionString })
    expect(new MongoClient(connectionString).options.credentials).toMatchObject({ username: 'plots', source: 'plots' })
  })

  test('security 48: the connection details contain no password, file or authentication option of the administrator', async () => {
    const secret = [
      'authsource=admin',
      'authMechanism=SCRAM-SHA-1',
      'tlsCertificateKeyFile=/etc/platform.pem',
      'tlsCertificateKeyFilePassword=hush',
      'tlsCAFile=/etc/ca.pem',
      'proxyHost=proxy',
      'proxyUsername=proxy',
      'proxyPassword=hush',
      'authMechanismProperties=AWS_SESSION_TOKEN:hush',
    ]
    expect(await addressAt(`mongodb://admin:hush@db.example/?${secret.join('&')}`)).toEqual({
      host: 'db.example',
      port: 27_017,
    })
    expect(await addressAt(`mongodb://admin:hush@db.example/?tls=true&${secret.join('&')}`)).toEqual({
      host: 'db.example',
      port: 27_017,
      connectionString: 'mongodb://plots:theirs@db.example/plots?tls=true&authSource=plots',
    })
  })
})

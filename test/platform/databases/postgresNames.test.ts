import { Client } from 'pg'
import { physicalNameOf } from '../../../src/platform/databases/databaseNames'
import { onServer } from '../../support/platform/freshState'
import { useSqlDatabases, unique, databaseOf, connect, as, codeOf } from '../../support/platform/sqlDatabases'

const { platform, user, call, create, listed } = useSqlDatabases()

describe('invalid input:', () => {
  test.each([
    ['a quote', 'a"b'],
    ['an injection', 'x"; DROP ROLE postgres; --'],
    ['a dash', 'a-b'],
    ['a space', 'a b'],
    ['65 characters', 'a'.repeat(65)],
    ['nothing', ''],
    ['a letter beyond ASCII', 'größe'],
    ['a newline at the end', 'plots\n'],
    ['NUL', 'a\0b'],
    ['a number', 5],
    ['an object', { $ne: null }],
  ])('§5 %s as name gets 400', async (_case, name) => {
    expect(await call('POST', '', { name })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', field: 'name' },
    })
    if (typeof name === 'string' && name !== '') {
      expect((await call('DELETE', encodeURIComponent(name))).status).toBe(400)
      expect((await call('PATCH', encodeURIComponent(name))).status).toBe(400)
    }
  })

  test('§5 the message for characters that are not allowed is that of the specification', async () => {
    expect((await call('POST', '', { name: 'a-b' })).body.message).toBe(
      'name: Database name can only contain letters, numbers, dashes, and underscores',
    )
  })

  test('security 15: a reset or delete of an unknown name gets 404, an unknown type 400', async () => {
    expect(await call('PATCH', 'nothing_here')).toMatchObject({
      status: 404,
      body: { message: 'There is no database named "nothing_here".' },
    })
    expect(await call('DELETE', 'nothing_here')).toMatchObject({ status: 404 })
    expect((await platform().call('GET', '/api/database/oracle', { token: user().token })).status).toBe(400)
  })
})

describe('valid names:', () => {
  test.each([
    'SELECT',
    'user',
    'Upper_Case',
    'public',
    'pg_monitor',
    '1',
    '_',
    'current_user',
    'x'.repeat(63),
    'Y'.repeat(64),
  ])('security 45: %s is an ordinary name', async (name) => {
    const database = await create(name)
    expect(database.name).toBe(name)
    await as(database, async (client) => {
      expect((await client.query('select current_database() as name')).rows).toEqual([
        { name: database.credentials.database },
      ])
      await client.query('create table t (x int)')
    })
    expect(await listed(name)).toMatchObject({ tables: 1, credentials: database.credentials })
    const reset = databaseOf(await call('PATCH', name))
    expect(await codeOf(connect(database))).toBe('28P01')
    await as(reset, (client) => client.query('select * from t'))
    expect((await call('DELETE', name)).status).toBe(200)
  })

  test('a name of 64 characters whose shortened name is taken is refused with a text that names the shortened one', async () => {
    const long = 'z'.repeat(64)
    const shortened = physicalNameOf(long)
    await create(shortened)
    const { status, body } = await call('POST', '', { name: long })
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'NAME_TAKEN' })
    expect(body.message).toContain(`the name "${shortened}" that it would use instead exists already`)
    await call('DELETE', shortened)
  })

  test('decisions §8: case is kept, and names that differ only in case are two databases', async () => {
    const name = unique('case')
    await create(name)
    await create(name.toUpperCase())
    expect((await listed(name))!.credentials.database).toBe(name)
    expect((await listed(name.toUpperCase()))!.credentials.database).toBe(name.toUpperCase())
  })
})

describe('what was created outside the console is never listed or changed:', () => {
  test.each(['postgres', 'template0', 'template1'])('the name %s is taken', async (name) => {
    expect(await call('POST', '', { name })).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN' } })
    expect(await listed(name)).toBeUndefined()
    expect((await call('DELETE', name)).status).toBe(404)
  })

  test('a database or role of another owner keeps its name, its password and its data', async () => {
    const [database, role] = [unique('foreign'), unique('somebody')]
    await onServer(async (admin) => {
      await admin.query(`create database ${database}`)
      await admin.query(`create role ${role} login password 'their own'`)
    })
    for (const name of [database, role]) {
      expect(await call('POST', '', { name })).toMatchObject({
        status: 409,
        body: { code: 'NAME_TAKEN', message: expect.stringContaining('not created here') },
      })
      expect((await call('PATCH', name)).status).toBe(404)
      expect((await call('DELETE', name)).status).toBe(404)
    }
    const url = new URL(process.env.TEST_POSTGRES_URL!)
    const client = new Client({
      host: '127.0.0.1',
      port: Number(url.port),
      user: role,
      password: 'their own',
      database,
    })
    await client.connect()
    await client.end()
    await onServer(async (admin) => {
      expect((await admin.query('select 1 from pg_database where datname = $1', [role])).rowCount).toBe(0)
      await admin.query(`drop database ${database}`)
      await admin.query(`drop role ${role}`)
    })
  })

  test('a role that replaced ours on the server gets no new password and is not dropped', async () => {
    const database = await create(unique('replaced'))
    await onServer(async (admin) => {
      await admin.query(`drop database "${database.name}" with (force)`)
      await admin.query(`drop role "${database.name}"`)
      await admin.query(`create role "${database.name}" login password 'their own'`)
    })
    expect(await call('PATCH', database.name)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect(await listed(database.name)).toEqual({ name: database.name, credentials: database.credentials })
    expect((await call('DELETE', database.name)).status).toBe(200)
    await onServer(async (admin) => {
      expect((await admin.query('select 1 from pg_roles where rolname = $1', [database.name])).rowCount).toBe(1)
      await admin.query(`drop role "${database.name}"`)
    })
  })

  test('a database that an administrator reassigned to another role is not dropped', async () => {
    const database = await create(unique('given'))
    await onServer((admin) => admin.query(`alter database "${database.name}" owner to postgres`))
    expect(await call('DELETE', database.name)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect(await listed(database.name)).toBeDefined()
    // Its new password did not reach the server: that is still completed later.
    const rows = platform().db.updateTable('databases').where('name', '=', database.name)
    await rows.set({ state: 'resetting' }).execute()
    expect(await call('DELETE', database.name)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect(await rows.set({ name: database.name }).returning('state').execute()).toEqual([{ state: 'resetting' }])
    await onServer((admin) => admin.query(`alter database "${database.name}" owner to "${database.name}"`))
    expect((await call('DELETE', database.name)).status).toBe(200)
  })
})

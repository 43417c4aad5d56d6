import type { ActivityEntry } from '../../../src/contract/admin'
import { usePlatform } from '../../support/platform/startPlatform'

const { platform, account: ann } = usePlatform('ann')

describe('GET /api/activity', () => {
  const ask = async (query = '') =>
    (await platform().call('GET', `/api/activity${query}`, { token: ann().token })).body.data as unknown as {
      entries: ActivityEntry[]
      hasMore: boolean
    }
  const subjects = async (search: string, more = '') =>
    (await ask(`?search=${encodeURIComponent(search)}${more}`)).entries.map(({ subject }) => subject)

  test('returns pages of 100, newest first, without gaps or duplicates when entries are added meanwhile', async () => {
    const many = Array.from({ length: 250 }, (_entry, at) => `page ${at}`)
    for (const subject of many)
      platform().activityLog.record({
        username: 'pager',
        kind: 'file',
        action: 'deleted file',
        subject,
        address: '::1',
        succeeded: true,
      })
    const first = await ask('?search=pager')
    platform().activityLog.record({
      username: 'pager',
      kind: 'file',
      action: 'deleted file',
      subject: 'later',
      address: '::1',
      succeeded: true,
    })
    const second = await ask(`?search=pager&before=${first.entries.at(-1)!.id}`)
    const third = await ask(`?search=pager&before=${second.entries.at(-1)!.id}`)
    expect([first, second, third].map(({ entries, hasMore }) => [entries.length, hasMore])).toEqual([
      [100, true],
      [100, true],
      [50, false],
    ])
    expect([first, second, third].flatMap(({ entries }) => entries.map(({ subject }) => subject))).toEqual(
      many.reverse(),
    )
  })

  test('filters by time, and refuses a time that is not a number of hours', async () => {
    await platform().state.pool.query(
      `insert into activity (at, username, kind, action, subject, address, succeeded)
       select now() - hours * interval '1 hour', 'timed', 'file', 'deleted', hours || ' h', '::1', true
       from unnest(array[30, 2, 0]) as hours`,
    )
    expect(await subjects('timed')).toEqual(['0 h', '2 h', '30 h'])
    expect(await subjects('timed', '&hours=24')).toEqual(['0 h', '2 h'])
    expect(await subjects('timed', '&hours=1')).toEqual(['0 h'])
    for (const hours of ['0', '-1', '1.5', 'many', '2161']) {
      const { status } = await platform().call('GET', `/api/activity?hours=${hours}`, { token: ann().token })
      expect({ hours, status }).toEqual({ hours, status: 400 })
    }
  })

  test('filters by kind', async () => {
    await platform().signIn(ann())
    const { entries } = await ask('?kind=session')
    expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(['session']))
    expect((await ask('?kind=power')).entries).toEqual([])
  })

  test('searches username, action, subject and address literally, ignoring case', async () => {
    const entry = {
      username: 'Zoe',
      kind: 'command' as const,
      action: 'sent command',
      address: '2001:db8::77',
      succeeded: true,
    }
    for (const subject of ['100% sure', '100 sure', 'a_b', 'axb', 'back\\slash', "quote's", 'select * from users; --'])
      platform().activityLog.record({ ...entry, subject })
    expect(await subjects('zOE', '&kind=command')).toHaveLength(7)
    expect(await subjects('DB8::77')).toHaveLength(7)
    expect(await subjects('SENT comm')).toHaveLength(7)
    expect(await subjects('100%')).toEqual(['100% sure'])
    expect(await subjects('%')).toEqual(['100% sure'])
    expect(await subjects('a_b')).toEqual(['a_b'])
    expect(await subjects('back\\')).toEqual(['back\\slash'])
    expect(await subjects("quote's")).toEqual(["quote's"])
    expect(await subjects("'; drop table activity; --")).toEqual([])
    expect(await subjects('zoe', '&kind=file')).toEqual([])
  })

  test('a cursor of 0 is refused with a text that names the bound', async () => {
    const { body } = await platform().call('GET', '/api/activity?before=0', { token: ann().token })
    expect(body.message).toContain('must be more than 0')
  })

  test.each([
    '?kind=everything',
    '?before=0',
    '?before=x',
    '?before=1.5',
    `?search=${'x'.repeat(201)}`,
    '?search=%00',
    '?kind=file&kind=user',
    '?limit=1000000',
  ])('%s gets 400', async (query) => {
    expect(await platform().call('GET', `/api/activity${query}`, { token: ann().token })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT' },
    })
  })
})

describe('the database protects the log:', () => {
  test('no entry can be changed or removed within 90 days, not even by the platform itself', async () => {
    const { db } = platform()
    await expect(db.updateTable('activity').set({ username: 'somebody else' }).execute()).rejects.toThrow(
      'are kept as they are',
    )
    await expect(db.deleteFrom('activity').where('username', '=', 'ann').execute()).rejects.toThrow(
      'are kept as they are',
    )
    await expect(platform().state.pool.query('truncate activity')).rejects.toThrow('are kept as they are')
  })

  test('entries older than 90 days are removed, younger ones stay', async () => {
    const { dropOldActivity } = await import('../../../src/platform/state/accounts/activity')
    const day = 86_400_000
    const entry = {
      username: 'old-timer',
      kind: 'file' as const,
      action: 'deleted file',
      subject: null,
      address: '::1',
      succeeded: true,
    }
    await platform()
      .db.insertInto('activity')
      .values([
        { ...entry, at: new Date(Date.now() - 91 * day) },
        { ...entry, at: new Date(Date.now() - 89 * day) },
      ])
      .execute()
    await dropOldActivity(platform().db)
    expect(
      await platform().db.selectFrom('activity').select('id').where('username', '=', 'old-timer').execute(),
    ).toHaveLength(1)
  })
})

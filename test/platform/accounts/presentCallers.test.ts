import { Kysely, PostgresDialect } from 'kysely'
import { createApiKeys } from '../../../src/platform/accounts/apiKeys'
import { createCallers, type Callers } from '../../../src/platform/accounts/callers'
import { createPresentCallers, RELY_MS, type PresentCallers } from '../../../src/platform/accounts/presentCallers'
import { createSessions, type Sessions } from '../../../src/platform/accounts/sessions'
import type { Caller, Credential } from '../../../src/platform/caller'
import { insertUser } from '../../../src/platform/state/accounts/users'
import type { Db } from '../../../src/platform/state/db'
import type { State } from '../../../src/platform/state/schema'
import { openSecrets } from '../../../src/platform/state/secrets'
import { freshState, type FreshState } from '../../support/platform/freshState'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const ANN: Credential = 'session ann'
const callerOf = (username: string): Caller => ({
  userId: 1,
  username,
  role: 'operator',
  isAdmin: false,
  grants: new Map(),
})

describe('cached callers', () => {
  let present: PresentCallers
  /** The reads that were sent, each with what answers it. */
  let sent: { credentials: Credential[]; answer: (username?: string) => void; fail: (reason: Error) => void }[]

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] })
    sent = []
    present = createPresentCallers(
      (credentials) =>
        new Promise((resolve, reject) =>
          sent.push({
            credentials,
            answer: (username) =>
              resolve(new Map(username === undefined ? [] : credentials.map((one) => [one, callerOf(username)]))),
            fail: reject,
          }),
        ),
    )
  })
  afterEach(() => {
    present.close()
    jest.useRealTimers()
  })

  /** Lets a call begin, and its read be sent. */
  async function begin(credential = ANN): Promise<{ found: Promise<string | undefined> }> {
    const found = present.find(credential).then((caller) => caller?.username)
    found.catch(() => undefined)
    await jest.advanceTimersByTimeAsync(1)
    return { found }
  }

  test('are read once for concurrent calls', async () => {
    const [one, two] = await Promise.all([begin(), begin('session bob')])
    expect(sent.map(({ credentials }) => credentials)).toEqual([[ANN, 'session bob']])
    sent[0]!.answer('ann')
    expect([await one.found, await two.found]).toEqual(['ann', 'ann'])
  })

  test('expire a fixed time after the query was sent, not after its response', async () => {
    const { found } = await begin()
    await jest.advanceTimersByTimeAsync(RELY_MS - 50)
    sent[0]!.answer('ann')
    expect(await found).toBe('ann')
    expect(present.known(ANN)?.username).toBe('ann')
    await jest.advanceTimersByTimeAsync(60)
    expect(present.known(ANN)).toBeUndefined()
  })

  test('are read by a query that a later call joins only if it was sent a moment before', async () => {
    await begin()
    const { found: joined } = await begin()
    expect(sent).toHaveLength(1)
    await jest.advanceTimersByTimeAsync(RELY_MS)
    const { found: later } = await begin()
    expect(sent).toHaveLength(2)
    sent[0]!.answer('before')
    expect(await joined).toBe('before')
    sent[1]!.answer()
    expect(await later).toBeUndefined()
    expect(present.known(ANN)).toBeUndefined()
  })

  test('are not replaced by the response of a query that was sent earlier', async () => {
    await begin()
    await jest.advanceTimersByTimeAsync(RELY_MS)
    const { found: later } = await begin()
    sent[1]!.answer('after')
    await later
    sent[0]!.answer('before')
    await jest.advanceTimersByTimeAsync(0)
    expect(present.known(ANN)?.username).toBe('after')
  })

  test('are discarded after a change, and so are queries in flight', async () => {
    const { found: before } = await begin()
    present.forget()
    const { found: after } = await begin()
    expect(sent).toHaveLength(2)
    sent[1]!.answer()
    expect(await after).toBeUndefined()
    sent[0]!.answer('ann')
    expect(await before).toBe('ann')
    expect(present.known(ANN)).toBeUndefined()
  })

  test('are refreshed by one query before they expire, if they are in use', async () => {
    for (const credential of [ANN, 'session bob'] as const) {
      await begin(credential)
      sent.at(-1)!.answer('one')
    }
    await jest.advanceTimersByTimeAsync(250)
    expect(sent.slice(2).map(({ credentials }) => credentials)).toEqual([[ANN, 'session bob']])
    sent[2]!.answer('renewed')
    await jest.advanceTimersByTimeAsync(RELY_MS - 100)
    expect(present.known(ANN)?.username).toBe('renewed')
  })

  test('are no longer refreshed when they make no calls', async () => {
    await begin()
    sent[0]!.answer('ann')
    for (let second = 0; second < 15; second++) {
      await jest.advanceTimersByTimeAsync(1000)
      for (const { answer } of sent) answer('ann')
    }
    const reads = sent.length
    expect(reads).toBeGreaterThan(5)
    await jest.advanceTimersByTimeAsync(60_000)
    expect(sent).toHaveLength(reads)
  })

  test('are not used while queries fail, and calls fail with the reason', async () => {
    await begin()
    sent[0]!.answer('ann')
    for (let step = 0; step < 4; step++) {
      await jest.advanceTimersByTimeAsync(200)
      for (const { fail } of sent) fail(new Error('no database'))
    }
    expect(present.known(ANN)).toBeUndefined()
    const { found } = await begin()
    sent.at(-1)!.fail(new Error('no database'))
    await expect(found).rejects.toThrow('no database')
  })
})

describe('with the database', () => {
  const directory = useTemporaryDirectory()
  let state: FreshState
  let db: Db
  let queries: string[]
  let userId: number
  let opened: Callers[]

  beforeAll(async () => {
    state = await freshState()
    db = new Kysely<State>({
      dialect: new PostgresDialect({ pool: state.pool }),
      log: ({ query }) => void queries.push(query.sql),
    })
  })
  beforeEach(async () => {
    queries = []
    opened = []
    userId = await insertUser(state.db, { username: `user-${Math.random()}`, is_admin: false, password_hash: null })
  })
  afterEach(() => opened.forEach((callers) => callers.close()))
  afterAll(() => state.close())

  /** The sessions and callers of one replica, which receives no notifications. */
  async function replica(): Promise<{ sessions: Sessions; callers: Callers }> {
    const sessions = createSessions(db, await openSecrets(directory(), state.db), Date.now, undefined, RELY_MS)
    const callers = createCallers(sessions, createApiKeys(db, Date.now, sessions.announceChange))
    opened.push(callers)
    return { sessions, callers }
  }
  const open = (sessions: Sessions) =>
    sessions.open({ id: userId, username: 'ann' }, { address: '::1', network: '::1', device: '' })

  test('a hundred calls of a session need no more queries than one call', async () => {
    const { sessions, callers } = await replica()
    const token = await open(sessions)
    await callers.authenticate(token)
    queries = []
    for (let call = 0; call < 100; call++) await callers.authenticate(token)
    // The callers in use may have been read again meanwhile.
    expect(queries.length).toBeLessThan(5)
  })

  test('security 92: a session that another replica ended is refused at once, even without a notification', async () => {
    const [one, two] = [await replica(), await replica()]
    for (let time = 0; time < 3; time++) {
      const token = await open(one.sessions)
      const { sessionId } = await one.sessions.verify(token)
      await two.callers.authenticate(token)
      // In use all the time, so that reads of it are in flight.
      let isEnding = true
      const use = (async () => {
        while (isEnding) await two.callers.authenticate(token).catch(() => undefined)
      })()
      await one.sessions.end(sessionId)
      expect(two.callers.known(token)).toBeUndefined()
      await expect(two.callers.authenticate(token)).rejects.toMatchObject({ code: 'NO_SESSION' })
      isEnding = false
      await use
    }
  })

  test('a change by this process takes effect at once', async () => {
    const { sessions, callers } = await replica()
    const token = await open(sessions)
    await callers.authenticate(token)
    await state.db.updateTable('users').set({ is_admin: true }).where('id', '=', userId).execute()
    void sessions.announceChange()
    expect(await callers.authenticate(token)).toMatchObject({ isAdmin: true })
  })

  test('the last use of a session is recorded, once a minute', async () => {
    const { sessions, callers } = await replica()
    const token = await open(sessions)
    const { sessionId } = await sessions.verify(token)
    const lastUse = async () =>
      (
        await state.db
          .selectFrom('sessions')
          .select('last_used_at')
          .where('id', '=', sessionId)
          .executeTakeFirstOrThrow()
      ).last_used_at.getTime()
    await state.db
      .updateTable('sessions')
      .set({ last_used_at: new Date(0) })
      .where('id', '=', sessionId)
      .execute()
    await sessions.find([sessionId])
    expect(await lastUse()).toBe(0)
    await callers.authenticate(token)
    const used = await lastUse()
    expect(used).toBeGreaterThan(Date.now() - 10_000)
    await sessions.use([sessionId])
    expect(await lastUse()).toBe(used)
  })
})

import { createCodeChecks } from '../../../src/platform/accounts/codeChecks'
import { createPasskeys } from '../../../src/platform/accounts/passkeys'
import { createSignIn } from '../../../src/platform/accounts/signIn'
import { openSecrets } from '../../../src/platform/state/secrets'
import { useEmptyPlatform, type Account } from '../../support/platform/startPlatform'

const platform = useEmptyPlatform()
// Removes the rate limits by address, which these tests do not cover.
beforeEach(() => platform().db.deleteFrom('tries').execute())

const ADDRESS = '10.5.0.1'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const pass = (milliseconds: number) => void (platform().clock.now += milliseconds)

async function firstStep({ username, password }: Account): Promise<string> {
  const { body } = await platform().call('POST', '/api/auth/login', { body: { username, password }, address: ADDRESS })
  return String(body.data.sessionToken)
}

const enter = ({ username }: Account, sessionToken: string, token = '000000') =>
  platform().call('POST', '/api/auth/verify-login', { body: { username, token, sessionToken }, address: ADDRESS })

/** Acts as a thief who knows the password: five tries, then the next sign-in. @returns the last response. */
async function enterWrongCodes(account: Account, count: number) {
  let sessionToken = await firstStep(account)
  let last = await enter(account, sessionToken)
  for (let entered = 1; entered < count; entered++) {
    if (entered % 5 === 0) sessionToken = await firstStep(account)
    last = await enter(account, sessionToken)
  }
  return last
}

async function signIn(account: Account) {
  const sessionToken = await firstStep(account)
  return enter(account, sessionToken, await platform().nextCode(account.secret))
}

async function administrator(): Promise<Account> {
  const { username, ...account } = await platform().register('admin')
  await platform().db.updateTable('users').set({ is_admin: true }).where('username', '=', username).execute()
  return { username, ...account }
}

test('security 2: every tenth wrong code locks the account, twice as long each time, for a day at most', async () => {
  const ann = await platform().register('ann')
  const waits: number[] = []
  for (let round = 0; round < 9; round++) {
    expect(await enterWrongCodes(ann, 10)).toMatchObject({ status: 400, body: { code: 'INVALID_CODE' } })
    const refused = await enter(ann, await firstStep(ann), await platform().nextCode(ann.secret))
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_TRIES' } })
    // A code was generated since then, which moves the clock by 30 seconds.
    const seconds = Number(refused.headers['retry-after']) + 30
    waits.push(seconds)
    pass(seconds * 1000 - 31_000)
    expect(await enterWrongCodes(ann, 1)).toMatchObject({ status: 429 })
    pass(1000)
  }
  expect(waits.map((seconds) => seconds / 60)).toEqual([15, 30, 60, 120, 240, 480, 960, 1440, 1440])
})

test('a lockout that began while the clock was a year ahead ends when the clock is corrected', async () => {
  const zoe = await platform().register('zoe')
  pass(365 * 24 * HOUR)
  await enterWrongCodes(zoe, 10)
  pass(-365 * 24 * HOUR)
  expect(await signIn(zoe)).toMatchObject({ status: 200 })
})

test('a user who signed in while the clock was a year ahead can sign in after it is corrected', async () => {
  const yan = await platform().register('yan')
  pass(365 * 24 * HOUR)
  expect(await signIn(yan)).toMatchObject({ status: 200 })
  pass(-365 * 24 * HOUR)
  expect(await signIn(yan)).toMatchObject({ status: 200 })
})

test('security 2: a lockout refuses even a valid code and says how long it lasts, and step 1 stays valid meanwhile', async () => {
  const bob = await platform().register('bob')
  const sessionToken = await firstStep(bob)
  await enterWrongCodes(bob, 10)
  for (let tries = 0; tries < 6; tries++) {
    const refused = await enter(bob, sessionToken, await platform().nextCode(bob.secret))
    expect(refused.body).toMatchObject({
      code: 'TOO_MANY_TRIES',
      message: expect.stringMatching(/^Too many attempts\. Please wait 1\d minutes and try again\.$/),
    })
  }
  pass(15 * MINUTE)
  expect(await enter(bob, sessionToken, await platform().nextCode(bob.secret))).toMatchObject({ status: 200 })
})

test('security 2: the lockout survives a restart of the platform', async () => {
  const cleo = await platform().register('cleo')
  await enterWrongCodes(cleo, 10)
  const { db, sessions, dataDir, activityLog } = platform()
  const now = () => platform().clock.now
  const restarted = createSignIn(
    db,
    {
      codes: createCodeChecks({ db, secrets: await openSecrets(dataDir, db), activityLog, now }),
      passkeys: createPasskeys(db, activityLog, now),
    },
    sessions,
    now,
  )
  const client = { address: '10.5.0.2', network: '10.5.0.2', device: '' }
  const sessionToken = await restarted.login(cleo, client)
  const token = await platform().nextCode(cleo.secret)
  await expect(restarted.confirmSignIn({ username: 'cleo', token, sessionToken }, client)).rejects.toMatchObject({
    code: 'TOO_MANY_TRIES',
    details: { retryAfterSeconds: 15 * 60 - 30 },
  })
})

/** Code checks whose database fails after a number of queries. */
async function failingCodes(account: Account) {
  const state = { queriesLeft: Infinity }
  const db = platform().db.withPlugin({
    transformQuery({ node }) {
      state.queriesLeft -= 1
      if (state.queriesLeft < 0) throw new Error('Connection terminated unexpectedly')
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const { dataDir, activityLog } = platform()
  const secrets = await openSecrets(dataDir, platform().db)
  const codes = createCodeChecks({ db, secrets, activityLog, now: () => platform().clock.now })
  const [user] = await db.selectFrom('users').selectAll().where('username', '=', account.username).execute()
  const check = async () =>
    codes.check(user!, await platform().nextCode(account.secret), { username: null, address: ADDRESS })
  return { db, codes, userId: user!.id, check, state }
}

test.each([1, 2, 3])(
  'security 112: a code that is entered when the database fails after %d queries is not reported as wrong',
  async (queries) => {
    const { db, codes, userId, check, state } = await failingCodes(await platform().register(`gwen-${queries}`))
    state.queriesLeft = queries
    await expect(check()).rejects.toThrow('terminated')
    state.queriesLeft = Infinity
    await check()
    expect(await codes.clear(db, userId, 0)).toBeUndefined()
  },
)

test('security 112: a code that could not be verified ends the wait that it began, and no other one', async () => {
  const { db, userId, check, state } = await failingCodes(await platform().register('hazel'))
  await db
    .insertInto('wrong_codes')
    .values({ user_id: userId, count: 9, first_at: new Date(platform().clock.now) })
    .execute()
  state.queriesLeft = 1
  await expect(check()).rejects.toThrow('terminated')
  state.queriesLeft = Infinity
  await check()

  state.queriesLeft = 1
  await expect(check()).rejects.toThrow('terminated')
  state.queriesLeft = Infinity
  // At another replica, wrong codes begin a wait meanwhile.
  await db
    .updateTable('wrong_codes')
    .set({ blocked_until: new Date(platform().clock.now + 20 * MINUTE) })
    .where('user_id', '=', userId)
    .execute()
  await expect(check()).rejects.toThrow('Too many')
})

test('security 2: a correct code resets the count, so that the next lockout is short again', async () => {
  const dora = await platform().register('dora')
  await enterWrongCodes(dora, 10)
  pass(15 * MINUTE)
  await enterWrongCodes(dora, 9)
  expect(await signIn(dora)).toMatchObject({ status: 200 })
  await enterWrongCodes(dora, 10)
  const refused = await enterWrongCodes(dora, 1)
  expect(Number(refused.headers['retry-after'])).toBe(15 * 60)
})

test('security 2: twenty concurrent wrong codes count as ten tries', async () => {
  const eve = await platform().register('eve')
  const steps = []
  for (let count = 0; count < 20; count++) steps.push(await firstStep(eve))
  const answers = await Promise.all(steps.map((step) => enter(eve, step)))
  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array<number>(10).fill(400),
    ...Array<number>(10).fill(429),
  ])
})

test('security 2: the next sign-in reports how many wrong codes were entered, and since when', async () => {
  const finn = await platform().register('finn')
  expect((await signIn(finn)).body.data).not.toHaveProperty('wrongCodes')
  const since = platform().clock.now
  await enterWrongCodes(finn, 10)
  pass(HOUR)
  await enterWrongCodes(finn, 2)
  expect((await signIn(finn)).body.data).toMatchObject({ wrongCodes: { count: 12, since } })
  expect((await signIn(finn)).body.data).not.toHaveProperty('wrongCodes')
})

test('security 2: wrong codes that the user entered in the same sign-in are not reported', async () => {
  const gus = await platform().register('gus')
  const alone = await firstStep(gus)
  for (let tries = 0; tries < 3; tries++) await enter(gus, alone)
  expect((await enter(gus, alone, await platform().nextCode(gus.secret))).body.data).not.toHaveProperty('wrongCodes')

  const since = platform().clock.now
  await enterWrongCodes(gus, 9)
  const step = await firstStep(gus)
  await enter(gus, step)
  // Refused without checking the code, so none of these counts.
  for (let tries = 0; tries < 3; tries++) expect(await enter(gus, step)).toMatchObject({ status: 429 })
  pass(15 * MINUTE)
  await enter(gus, step)
  expect((await enter(gus, step, await platform().nextCode(gus.secret))).body.data).toMatchObject({
    wrongCodes: { count: 9, since },
  })
})

test('security 2: wrong passwords and codes without a step do not count towards the lockout', async () => {
  const hal = await platform().register('hal')
  for (let tries = 0; tries < 12; tries++) await enter(hal, 'nonsense')
  for (let tries = 0; tries < 9; tries++)
    await platform().call('POST', '/api/auth/login', {
      body: { username: 'hal', password: 'wrong' },
      address: '10.5.9.1',
    })
  expect((await signIn(hal)).body).toMatchObject({ success: true, data: { token: expect.any(String) } })
  expect(
    await platform()
      .db.selectFrom('wrong_codes')
      .innerJoin('users', 'users.id', 'user_id')
      .where('username', '=', 'hal')
      .selectAll()
      .execute(),
  ).toEqual([])
})

test('security 2: wrong codes for a password change count too, and are reported at the next sign-in', async () => {
  const ida = await platform().register('ida')
  const change = (token: string) =>
    platform().call('POST', '/api/auth/change-password', {
      token: ida.token,
      body: { password: ida.password, newPassword: 'another horse', token },
    })
  const since = platform().clock.now
  await enterWrongCodes(ida, 6)
  for (let tries = 0; tries < 4; tries++)
    expect(await change('000000')).toMatchObject({ status: 400, body: { code: 'INVALID_CODE' } })
  expect(await change(await platform().nextCode(ida.secret))).toMatchObject({
    status: 429,
    headers: { 'retry-after': String(15 * 60 - 30) },
  })
  expect(await enterWrongCodes(ida, 1)).toMatchObject({ status: 429 })
  pass(15 * MINUTE)
  expect(await change(await platform().nextCode(ida.secret))).toMatchObject({ status: 200 })
  const changed = { ...ida, password: 'another horse' }
  expect((await signIn(changed)).body.data).toMatchObject({ wrongCodes: { count: 10, since } })
  expect((await signIn(changed)).body.data).not.toHaveProperty('wrongCodes')
})

test('security 2: a password reset by an administrator ends the lockout and keeps the report of wrong codes', async () => {
  const [admin, jim] = [await administrator(), await platform().register('jim')]
  await enterWrongCodes(jim, 10)
  const { id } = await platform()
    .db.selectFrom('users')
    .select('id')
    .where('username', '=', 'jim')
    .executeTakeFirstOrThrow()
  await platform().call('PATCH', `/api/users/${id}/password`, {
    token: admin.token,
    body: { password: 'of the admin' },
  })
  expect(await signIn({ ...jim, password: 'of the admin' })).toMatchObject({
    status: 200,
    body: { data: { wrongCodes: { count: 10 } } },
  })
})

test('security 2: the activity log records each lockout once with the user, the number of codes and their addresses', async () => {
  const kim = await platform().register('kim')
  const waits = async () =>
    (await platform().activityLog.list({ search: 'wrong codes' })).entries.filter(({ username, subject }) =>
      [username, subject].includes('kim'),
    )
  await enterWrongCodes(kim, 9)
  expect(await waits()).toEqual([])
  await enterWrongCodes(kim, 3)
  expect(await waits()).toMatchObject([
    {
      username: null,
      kind: 'session',
      action: 'entered wrong codes (10 so far, wait of 15 minutes) as',
      subject: 'kim',
      address: ADDRESS,
      succeeded: false,
    },
  ])
  pass(15 * MINUTE)
  for (let tries = 0; tries < 10; tries++)
    await platform().call('POST', '/api/auth/change-password', {
      token: kim.token,
      body: { password: kim.password, newPassword: 'another horse', token: '000000' },
    })
  expect((await waits())[0]).toMatchObject({
    username: 'kim',
    action: 'entered wrong codes (20 so far, wait of 30 minutes)',
    subject: null,
  })
  expect(await waits()).toHaveLength(2)
})

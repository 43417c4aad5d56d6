import { createCodeChecks } from '../../../src/platform/accounts/codeChecks'
import { createSignIn } from '../../../src/platform/accounts/signIn'
import { openSecrets } from '../../../src/platform/state/secrets'
import { startPlatform, type Account, type TestPlatform } from '../../support/platform/startPlatform'

let platform: TestPlatform

beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.close())
// The limits by address are not meant here.
beforeEach(() => platform.db.deleteFrom('tries').execute())

const ADDRESS = '10.5.0.1'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const pass = (milliseconds: number) => void (platform.clock.now += milliseconds)

async function firstStep({ username, password }: Account): Promise<string> {
  const { body } = await platform.call('POST', '/api/auth/login', { body: { username, password }, address: ADDRESS })
  return String(body.data.sessionToken)
}

const enter = ({ username }: Account, sessionToken: string, token = '000000') =>
  platform.call('POST', '/api/auth/verify-login', { body: { username, token, sessionToken }, address: ADDRESS })

/** What a thief with the password does: five tries, then the next sign-in. @returns the last answer. */
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
  return enter(account, sessionToken, await platform.nextCode(account.secret))
}

async function administrator(): Promise<Account> {
  const { username, ...account } = await platform.register('admin')
  await platform.db.updateTable('users').set({ is_admin: true }).where('username', '=', username).execute()
  return { username, ...account }
}

test('security 2: after each tenth wrong code the user waits, twice as long each time, a day at the most', async () => {
  const ann = await platform.register('ann')
  const waits: number[] = []
  for (let round = 0; round < 9; round++) {
    expect(await enterWrongCodes(ann, 10)).toMatchObject({ status: 400, body: { code: 'INVALID_CODE' } })
    const refused = await enter(ann, await firstStep(ann), await platform.nextCode(ann.secret))
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_TRIES' } })
    // A code was made meanwhile, which takes its 30 seconds.
    const seconds = Number(refused.headers['retry-after']) + 30
    waits.push(seconds)
    pass(seconds * 1000 - 31_000)
    expect(await enterWrongCodes(ann, 1)).toMatchObject({ status: 429 })
    pass(1000)
  }
  expect(waits.map((seconds) => seconds / 60)).toEqual([15, 30, 60, 120, 240, 480, 960, 1440, 1440])
})

test('a wait that began while the clock was a year ahead is over when the clock is right again', async () => {
  const zoe = await platform.register('zoe')
  pass(365 * 24 * HOUR)
  await enterWrongCodes(zoe, 10)
  pass(-365 * 24 * HOUR)
  expect(await signIn(zoe)).toMatchObject({ status: 200 })
})

test('who signed in while the clock was a year ahead can do so again when it is right', async () => {
  const yan = await platform.register('yan')
  pass(365 * 24 * HOUR)
  expect(await signIn(yan)).toMatchObject({ status: 200 })
  pass(-365 * 24 * HOUR)
  expect(await signIn(yan)).toMatchObject({ status: 200 })
})

test('security 2: the refusal says how long to wait, whatever the code, and the step outlives it', async () => {
  const bob = await platform.register('bob')
  const sessionToken = await firstStep(bob)
  await enterWrongCodes(bob, 10)
  for (let tries = 0; tries < 6; tries++) {
    const refused = await enter(bob, sessionToken, await platform.nextCode(bob.secret))
    expect(refused.body).toMatchObject({
      code: 'TOO_MANY_TRIES',
      message: expect.stringMatching(/^Too many attempts\. Please wait 1\d minutes and try again\.$/),
    })
  }
  pass(15 * MINUTE)
  expect(await enter(bob, sessionToken, await platform.nextCode(bob.secret))).toMatchObject({ status: 200 })
})

test('security 2: the wait outlives a restart of the platform', async () => {
  const cleo = await platform.register('cleo')
  await enterWrongCodes(cleo, 10)
  const { db, sessions, dataDir, activityLog } = platform
  const now = () => platform.clock.now
  const restarted = createSignIn(
    db,
    createCodeChecks({ db, secrets: await openSecrets(dataDir, db), activityLog, now }),
    sessions,
    now,
  )
  const client = { address: '10.5.0.2', network: '10.5.0.2', device: '' }
  const sessionToken = await restarted.login(cleo, client)
  const token = await platform.nextCode(cleo.secret)
  await expect(restarted.confirmSignIn({ username: 'cleo', token, sessionToken }, client)).rejects.toMatchObject({
    code: 'TOO_MANY_TRIES',
    details: { retryAfterSeconds: 15 * 60 - 30 },
  })
})

test('security 2: a right code clears the count: the next wait is the first one again', async () => {
  const dora = await platform.register('dora')
  await enterWrongCodes(dora, 10)
  pass(15 * MINUTE)
  await enterWrongCodes(dora, 9)
  expect(await signIn(dora)).toMatchObject({ status: 200 })
  await enterWrongCodes(dora, 10)
  const refused = await enterWrongCodes(dora, 1)
  expect(Number(refused.headers['retry-after'])).toBe(15 * 60)
})

test('security 2: twenty wrong codes at the same time are ten tries', async () => {
  const eve = await platform.register('eve')
  const steps = []
  for (let count = 0; count < 20; count++) steps.push(await firstStep(eve))
  const answers = await Promise.all(steps.map((step) => enter(eve, step)))
  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array<number>(10).fill(400),
    ...Array<number>(10).fill(429),
  ])
})

test('security 2: at the next sign-in the user is told how many wrong codes there were, and since when', async () => {
  const finn = await platform.register('finn')
  expect((await signIn(finn)).body.data).not.toHaveProperty('wrongCodes')
  const since = platform.clock.now
  await enterWrongCodes(finn, 10)
  pass(HOUR)
  await enterWrongCodes(finn, 2)
  expect((await signIn(finn)).body.data).toMatchObject({ wrongCodes: { count: 12, since } })
  expect((await signIn(finn)).body.data).not.toHaveProperty('wrongCodes')
})

test('security 2: what the user mistyped in the same step is no warning', async () => {
  const gus = await platform.register('gus')
  const alone = await firstStep(gus)
  for (let tries = 0; tries < 3; tries++) await enter(gus, alone)
  expect((await enter(gus, alone, await platform.nextCode(gus.secret))).body.data).not.toHaveProperty('wrongCodes')

  const since = platform.clock.now
  await enterWrongCodes(gus, 9)
  const step = await firstStep(gus)
  await enter(gus, step)
  // Refused without a look at the code: none of them counts.
  for (let tries = 0; tries < 3; tries++) expect(await enter(gus, step)).toMatchObject({ status: 429 })
  pass(15 * MINUTE)
  await enter(gus, step)
  expect((await enter(gus, step, await platform.nextCode(gus.secret))).body.data).toMatchObject({
    wrongCodes: { count: 9, since },
  })
})

test('security 2: the wrong password counts for no wait, and a code without a step neither', async () => {
  const hal = await platform.register('hal')
  for (let tries = 0; tries < 12; tries++) await enter(hal, 'nonsense')
  for (let tries = 0; tries < 9; tries++)
    await platform.call('POST', '/api/auth/login', {
      body: { username: 'hal', password: 'wrong' },
      address: '10.5.9.1',
    })
  expect((await signIn(hal)).body).toMatchObject({ success: true, data: { token: expect.any(String) } })
  expect(
    await platform.db
      .selectFrom('wrong_codes')
      .innerJoin('users', 'users.id', 'user_id')
      .where('username', '=', 'hal')
      .selectAll()
      .execute(),
  ).toEqual([])
})

test('security 2: codes for a change of the password count as well, and the user is told of them at the next sign-in, changed or not', async () => {
  const ida = await platform.register('ida')
  const change = (token: string) =>
    platform.call('POST', '/api/auth/change-password', {
      token: ida.token,
      body: { password: ida.password, newPassword: 'another horse', token },
    })
  const since = platform.clock.now
  await enterWrongCodes(ida, 6)
  for (let tries = 0; tries < 4; tries++)
    expect(await change('000000')).toMatchObject({ status: 400, body: { code: 'INVALID_CODE' } })
  expect(await change(await platform.nextCode(ida.secret))).toMatchObject({
    status: 429,
    headers: { 'retry-after': String(15 * 60 - 30) },
  })
  expect(await enterWrongCodes(ida, 1)).toMatchObject({ status: 429 })
  pass(15 * MINUTE)
  expect(await change(await platform.nextCode(ida.secret))).toMatchObject({ status: 200 })
  const changed = { ...ida, password: 'another horse' }
  expect((await signIn(changed)).body.data).toMatchObject({ wrongCodes: { count: 10, since } })
  expect((await signIn(changed)).body.data).not.toHaveProperty('wrongCodes')
})

test('security 2: a password reset by an administrator ends the wait, and the user is told all the same', async () => {
  const [admin, jim] = [await administrator(), await platform.register('jim')]
  await enterWrongCodes(jim, 10)
  const { id } = await platform.db
    .selectFrom('users')
    .select('id')
    .where('username', '=', 'jim')
    .executeTakeFirstOrThrow()
  await platform.call('PATCH', `/api/users/${id}/password`, { token: admin.token, body: { password: 'of the admin' } })
  expect(await signIn({ ...jim, password: 'of the admin' })).toMatchObject({
    status: 200,
    body: { data: { wrongCodes: { count: 10 } } },
  })
})

test('security 2: the activity log says once for each wait who it is for, how many wrong codes there were and from where', async () => {
  const kim = await platform.register('kim')
  const waits = async () =>
    (await platform.activityLog.list({ search: 'wrong codes' })).entries.filter(({ username, subject }) =>
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
    await platform.call('POST', '/api/auth/change-password', {
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

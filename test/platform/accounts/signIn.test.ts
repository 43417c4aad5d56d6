import { sql } from 'kysely'
import { networkOf, wideNetworkOf } from '../../../src/platform/accounts/clientAddress'
import { replacePassword } from '../../../src/platform/state/accounts/users'
import { freshDatabase } from '../../support/platform/freshState'
import { isQueryWaiting } from '../../support/platform/isQueryWaiting'
import { startPlatform, usePlatform, type Answer } from '../../support/platform/startPlatform'
import { until } from '../../support/platform/until'

const { platform, account: ann } = usePlatform('Ann')

const login = (body: unknown, address?: string) => platform().call('POST', '/api/auth/login', { body, address })
const verify = (body: unknown) => platform().call('POST', '/api/auth/verify-login', { body })

async function firstStep(address?: string): Promise<string> {
  const answer = await login({ username: ann().username, password: ann().password }, address)
  expect(answer.status).toBe(200)
  return String(answer.body.data.sessionToken)
}

test('§7 the correct password and code open a session whose token is accepted by protected calls', async () => {
  const sessionToken = await firstStep()
  const answer = await verify({ username: 'Ann', token: await platform().nextCode(ann().secret), sessionToken })
  expect(answer).toMatchObject({ status: 200, body: { success: true, data: { isAdmin: 1 } } })
  const protectedCall = await platform().call('GET', '/api/deployments', { token: String(answer.body.data.token) })
  expect(protectedCall.status).toBe(200)
})

test('security 199: a sign-in and a change of the same user’s password at the same moment do not end in a deadlock', async () => {
  const { username, password, secret } = await platform().register('flora')
  const { body } = await login({ username, password })
  const token = await platform().nextCode(secret)
  let answer: Promise<Answer> | undefined
  await platform()
    .db.transaction()
    .execute(async (transaction) => {
      // As a change of the password does it: first the user, then the login steps.
      const user = transaction.selectFrom('users').select('id').where('username', '=', username).forNoKeyUpdate()
      const { id } = await user.executeTakeFirstOrThrow()
      answer = verify({ username, token, sessionToken: body.data.sessionToken })
      await until(() => isQueryWaiting(platform().db))
      await transaction.deleteFrom('login_steps').where('user_id', '=', id).execute()
    })
  expect(await answer).toMatchObject({ body: { code: 'STEP_EXPIRED' } })
})

test('security 252: a sign-in whose password is reset after it was checked does not go on', async () => {
  const { username, password } = await platform().register('greta')
  let isAnswered = false
  let answer: Promise<Answer> | undefined
  await platform()
    .db.transaction()
    .execute(async (transaction) => {
      const user = transaction.selectFrom('users').select('id').where('username', '=', username)
      const { id } = await user.executeTakeFirstOrThrow()
      await replacePassword(transaction, id, 'the hash of another password')
      answer = login({ username, password }).finally(() => (isAnswered = true))
      await until(async () => isAnswered || (await isQueryWaiting(platform().db)))
    })
  expect(await answer).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS' } })
  expect(await platform().db.selectFrom('login_steps').selectAll().execute()).toEqual([])
})

test('usernames are case-insensitive', async () => {
  const first = await login({ username: 'aNN', password: ann().password })
  const second = await verify({
    username: 'ANN',
    token: await platform().nextCode(ann().secret),
    sessionToken: first.body.data.sessionToken,
  })
  expect(second.status).toBe(200)
})

test('security 101: a non-ASCII letter that the database lowers to an ASCII one does not match a username', async () => {
  const { url, drop } = await freshDatabase(
    `template template0 locale_provider builtin locale 'C' builtin_locale 'C.UTF-8'`,
  )
  const other = await startPlatform({ databaseUrl: url })
  try {
    const { password } = await other.register('admin')
    const tried = await Promise.all(
      ['ADMIN', 'adm\u0130n'].map((username) =>
        other.call('POST', '/api/auth/login', { body: { username, password } }),
      ),
    )
    expect(tried.map(({ status }) => status)).toEqual([200, 400])
  } finally {
    await other.close()
    await drop()
  }
})

test('decisions §2: a wrong username and a wrong password get the same response', async () => {
  const unknown = await login({ username: 'nobody', password: ann().password }, '10.0.0.1')
  const wrong = await login({ username: 'Ann', password: 'not the password' }, '10.0.0.1')
  expect(unknown).toMatchObject({ status: 400, body: { code: 'BAD_CREDENTIALS' } })
  expect(wrong.body).toEqual(unknown.body)
})

test('security 4: a known and an unknown user, 200 times each, cannot be told apart by body or by time', async () => {
  // As of a program that signs in every ten minutes.
  await sql`insert into sessions (id, user_id, expires_at, device, address)
    select gen_random_uuid(), id, now() + interval '1 day', 'a device', '10.6.0.1'
    from users, generate_series(1, 990) where username = 'Ann'`.execute(platform().state.db)
  const differences: number[] = []
  const bodies = new Set<string>()
  for (let round = 0; round < 200; round++) {
    const took: Record<string, number> = {}
    // Alternates, so that other load on the machine affects both equally. Each call has a new address because of the
    // rate limits.
    for (const username of round % 2 ? ['Ann', 'nobody'] : ['nobody', 'Ann']) {
      const since = performance.now()
      const answer = await login({ username, password: 'not the password' }, `10.7.${round % 2}.${round}`)
      took[username] = performance.now() - since
      bodies.add(JSON.stringify([answer.status, answer.body]))
    }
    differences.push(took.Ann! - took.nobody!)
  }
  expect([...bodies]).toEqual([expect.stringContaining('BAD_CREDENTIALS')])
  // The median lies between these two in all but one of ten million runs (sign test), whatever the load on the machine.
  const [low, high] = [62, 137].map((at) => differences.sort((one, other) => one - other)[at]!)
  expect(low).toBeLessThan(5)
  expect(high).toBeGreaterThan(-5)
})

test('security 4: the second step makes the same queries for a known and an unknown user', async () => {
  const queries = jest.spyOn(platform().state.pool, 'connect')
  const fewest: Record<string, number> = { Ann: Infinity, nobody: Infinity }
  // The platform's own queries, such as those of leases, may be among the counted ones of some rounds.
  for (let round = 0; round < 8; round++) {
    for (const username of Object.keys(fewest)) {
      queries.mockClear()
      expect(await verify({ username, token: '000000', sessionToken: 'nonsense' })).toMatchObject({
        status: 400,
        body: { code: 'STEP_EXPIRED' },
      })
      fewest[username] = Math.min(fewest[username]!, queries.mock.calls.length)
    }
  }
  queries.mockRestore()
  expect(fewest.Ann).toBeGreaterThan(1)
  expect(fewest.nobody).toBe(fewest.Ann)
})

test('security 2: second steps are rate limited by address', async () => {
  const statuses = []
  for (let tries = 0; tries < 202; tries++) {
    const body = { username: 'nobody', token: '000000', sessionToken: 'nonsense' }
    statuses.push((await platform().call('POST', '/api/auth/verify-login', { body, address: '10.9.0.1' })).status)
  }
  expect(statuses).toEqual([...Array<number>(200).fill(400), 429, 429])
})

test('security 1: one code in two concurrent logins opens exactly one session and cannot be used again', async () => {
  const [one, two, three] = [await firstStep(), await firstStep(), await firstStep()]
  const code = await platform().nextCode(ann().secret)
  const both = await Promise.all(
    [one, two].map((sessionToken) => verify({ username: 'Ann', token: code, sessionToken })),
  )
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
  const later = await verify({ username: 'Ann', token: code, sessionToken: three })
  expect(later).toMatchObject({
    status: 400,
    body: {
      code: 'INVALID_CODE',
      message: 'This verification code has already been used. Please wait for the next one.',
    },
  })
})

test('security 1: two valid codes for one step at the same time open one session', async () => {
  const eve = await platform().register('eve')
  for (let round = 0; round < 10; round++) {
    const first = await login({ username: 'eve', password: eve.password })
    const { sessionToken } = first.body.data
    const codes = [await platform().nextCode(eve.secret), await platform().nextCode(eve.secret)]
    const both = await Promise.all(codes.map((token) => verify({ username: 'eve', token, sessionToken })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
  }
})

test('decisions §2: the code of the previous time step is accepted, the one before it is refused', async () => {
  const before = await platform().nextCode(ann().secret)
  platform().clock.now += 30_000
  expect(await verify({ username: 'Ann', token: before, sessionToken: await firstStep() })).toMatchObject({
    status: 200,
  })
  const old = await platform().nextCode(ann().secret)
  platform().clock.now += 60_000
  expect(await verify({ username: 'Ann', token: old, sessionToken: await firstStep() })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_CODE' },
  })
})

test('decisions §2: the token of step 1 is valid for five minutes, for its user and for one login', async () => {
  await platform().db.deleteFrom('login_steps').execute()
  const expired = await firstStep()
  const { expires_at } = await platform().db.selectFrom('login_steps').select('expires_at').executeTakeFirstOrThrow()
  expect(expires_at.getTime() - platform().clock.now).toBe(5 * 60_000)
  await platform()
    .db.updateTable('login_steps')
    .set({ expires_at: new Date(Date.now() - 1) })
    .execute()
  expect(
    await verify({ username: 'Ann', token: await platform().nextCode(ann().secret), sessionToken: expired }),
  ).toMatchObject({ status: 400, body: { code: 'STEP_EXPIRED' } })

  const bob = await platform().register('bob')
  const ofAnn = await firstStep()
  expect(
    await verify({ username: 'bob', token: await platform().nextCode(bob.secret), sessionToken: ofAnn }),
  ).toMatchObject({ status: 400, body: { code: 'STEP_EXPIRED' } })

  const once = await firstStep()
  expect(
    await verify({ username: 'Ann', token: await platform().nextCode(ann().secret), sessionToken: once }),
  ).toMatchObject({ status: 200 })
  expect(
    await verify({ username: 'Ann', token: await platform().nextCode(ann().secret), sessionToken: once }),
  ).toMatchObject({ status: 400, body: { code: 'STEP_EXPIRED' } })
})

test('decisions §2: after five wrong codes the user has to start again with step 1', async () => {
  const cleo = await platform().register('cleo')
  const first = await login({ username: 'cleo', password: cleo.password })
  const { sessionToken } = first.body.data
  for (let tries = 0; tries < 5; tries++)
    expect(await verify({ username: 'cleo', token: '000000', sessionToken })).toMatchObject({
      body: { code: 'INVALID_CODE' },
    })
  expect(await verify({ username: 'cleo', token: await platform().nextCode(cleo.secret), sessionToken })).toMatchObject(
    {
      status: 400,
      body: { code: 'STEP_EXPIRED' },
    },
  )
})

test('security 2: wrong codes are counted per account, whatever the login and the address', async () => {
  const dora = await platform().register('dora')
  const statuses: number[] = []
  for (let tries = 0; tries < 20; tries++) {
    const first = await login({ username: 'dora', password: dora.password }, `10.1.0.${tries}`)
    const answer = await platform().call('POST', '/api/auth/verify-login', {
      body: { username: 'dora', token: '000000', sessionToken: first.body.data.sessionToken },
      address: `10.1.0.${tries}`,
      headers: { 'x-forwarded-for': `192.0.2.${tries}` },
    })
    statuses.push(answer.status)
    if (answer.status === 429) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  }
  expect(statuses).toEqual([...Array<number>(10).fill(400), ...Array<number>(10).fill(429)])
})

test('security 3: an account attacked from many addresses allows three tries per address, except at its user’s own', async () => {
  const gil = await platform().register('gil')
  const guess = async (address: string) => (await login({ username: 'GIL', password: 'a guess' }, address)).status
  // The address of the owner, who is signed in at 127.0.0.1, does not count.
  for (let count = 0; count < 5; count++) await platform().signIn(gil)
  // Ten at once: more would wait for the hashing of passwords until they are refused as too many on a busy machine.
  const first: number[] = []
  for (let network = 0; network < 10; network++)
    first.push(...(await Promise.all(Array.from({ length: 10 }, () => guess(`10.3.${network}.1`)))))
  expect(first).toEqual(Array<number>(100).fill(400))
  const further = async (address: string) => [
    await guess(address),
    await guess(address),
    await guess(address),
    await guess(address),
  ]
  expect(await further('10.3.100.1')).toEqual([400, 400, 400, 429])
  const refused = await login({ username: 'gil', password: 'a guess' }, '10.3.100.1')
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(1700)
  // An IPv6 /56 counts as one address.
  expect([
    await guess('2001:db8:1:200::1'),
    await guess('2001:db8:1:201::1'),
    await guess('2001:db8:1:2ff::1'),
    await guess('2001:db8:1:2aa::1'),
  ]).toEqual([400, 400, 400, 429])
  expect(await guess('2001:db8:1:300::1')).toBe(400)
  // An unknown user gets the same responses.
  const guessNobody = async (address: string) => (await login({ username: 'nil', password: 'a guess' }, address)).status
  for (let network = 0; network < 10; network++)
    await Promise.all(Array.from({ length: 10 }, () => guessNobody(`10.4.${network}.1`)))
  expect(await guessNobody('10.4.10.1')).toBe(400)
  expect(
    (await Promise.all([1, 2, 3, 4].map(() => login({ username: 'nil', password: 'a guess' }, '10.4.100.1'))))
      .map(({ status }) => status)
      .sort(),
  ).toEqual([400, 400, 400, 429])
  // The owner: first at the address of an open session after mistakes, then at a new address.
  expect(await further('127.0.0.1')).toEqual([400, 400, 400, 400])
  for (const address of ['127.0.0.1', '10.3.200.1'])
    expect((await login({ username: 'gil', password: gil.password }, address)).status).toBe(200)
})

test('security 3: 50 wrong passwords end in 429, and the victim still signs in from another address', async () => {
  await platform().db.deleteFrom('tries').execute()
  const answers = []
  for (let tries = 0; tries < 50; tries++)
    answers.push(await login({ username: 'Ann', password: `guess ${tries}` }, '10.2.0.1'))
  expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
  expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: 'TOO_MANY_TRIES' } })
  expect(Number(answers.at(-1)!.headers['retry-after'])).toBeGreaterThan(0)
  await firstStep('10.2.0.2')
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['192.0.2.7:54321', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['[2001:0db8:1:2::6]:54321', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['64:ff9b::1:c000:207', '64:ff9b:0:0'],
])('rate limits count %s as %s: an IPv6 customer has a whole /64', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test.each([
  ['64:ff9b::192.0.2.7', '192.0.2.7'],
  ['[64:ff9b::c6ff:ff08]:54321', '198.255.255.8'],
])('security 228: rate limits count %s, an IPv4 client behind a translator, as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2', '2001:db8:1:00'],
  ['2001:db8:1:2ff', '2001:db8:1:02'],
  ['user 1900000003 of this machine', 'user 1900000003 of this machine'],
])('during an attack from many addresses, %s counts as %s', (network, wide) => {
  expect(wideNetworkOf(network)).toBe(wide)
})

test('an address may try again when its rate limit window has expired', async () => {
  for (let tries = 0; tries < 12; tries++) await login({ username: 'Ann', password: 'wrong' }, '10.3.0.1')
  await platform()
    .db.updateTable('tries')
    .set({ resets_at: new Date(Date.now() - 1) })
    .execute()
  await firstStep('10.3.0.1')
})

test('a rate limit window that began while the clock was ahead has expired', async () => {
  for (let tries = 0; tries < 12; tries++) await login({ username: 'Ann', password: 'wrong' }, '10.3.0.2')
  await platform()
    .db.updateTable('tries')
    .set({ resets_at: new Date(Date.now() + 365 * 86_400_000) })
    .execute()
  await firstStep('10.3.0.2')
})

test('passwords and step tokens are neither in the log nor readable in the state', async () => {
  const sessionToken = await firstStep()
  const { password_hash, totp_secret } = await platform()
    .db.selectFrom('users')
    .innerJoin('authenticators', 'authenticators.user_id', 'users.id')
    .select(['password_hash', 'secret as totp_secret'])
    .where('username', '=', 'Ann')
    .executeTakeFirstOrThrow()
  expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(totp_secret).not.toContain(ann().secret)
  const steps = JSON.stringify(await platform().db.selectFrom('login_steps').selectAll().execute())
  for (const secret of [ann().password, ann().secret, sessionToken]) {
    expect(steps).not.toContain(secret)
    expect(platform().logged.join('')).not.toContain(secret)
  }
})

import { sql } from 'kysely'
import { useEmptyPlatform } from '../../support/platform/startPlatform'

const platform = useEmptyPlatform()

const post = (path: string, body: unknown) => platform().call('POST', `/api/auth/${path}`, { body })

/** Registers with an invite up to the QR code. */
async function begin(inviteCode: string, username: string): Promise<{ inviteToken: string; secret: string }> {
  const invited = await post('verify-invite', { inviteCode })
  const inviteToken = String(invited.body.data.token)
  const registered = await post('register', { username, password: 'correct horse', inviteToken })
  expect(registered.status).toBe(200)
  return { inviteToken, secret: String(registered.body.data.secret) }
}

const userNames = async () =>
  (await platform().db.selectFrom('users').select('username').orderBy('id').execute()).map(({ username }) => username)

test('decisions §2: the first invite creates an administrator and stays the same until it is used', async () => {
  const code = await platform().registration.firstInvite(undefined)
  expect(await platform().registration.firstInvite(undefined)).toBe(code)
  expect(await platform().registration.firstInvite('chosen-by-automation')).toBe('chosen-by-automation')
  expect(await post('verify-invite', { inviteCode: code })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INVITE' },
  })

  const { inviteToken, secret } = await begin('chosen-by-automation', 'ann')
  const verified = await post('verify-registration', {
    username: 'ann',
    token: await platform().nextCode(secret),
    inviteToken,
  })
  expect(verified).toMatchObject({ status: 200, body: { data: { isAdmin: 1, loginToken: expect.any(String) } } })
  expect(await platform().registration.firstInvite(undefined)).toBeUndefined()
  expect(await platform().registration.firstInvite('chosen-by-automation')).toBeUndefined()
})

test('the QR code is a PNG data URL, and a user with an ordinary invite is not an administrator', async () => {
  await platform().addInvite('for-bob')
  const { inviteToken } = (await post('verify-invite', { inviteCode: 'for-bob' })).body.data as {
    token: string
    inviteToken?: string
  } & Record<string, string>
  expect(inviteToken).toBeUndefined()
  const token = (await post('verify-invite', { inviteCode: '  for-bob ' })).body.data.token
  const { body } = await post('register', { username: 'bob', password: 'correct horse', inviteToken: token })
  expect(body.data.qrCode).toMatch(/^data:image\/png;base64,iVBOR/)
  const verified = await post('verify-registration', {
    username: 'bob',
    token: await platform().nextCode(String(body.data.secret)),
    inviteToken: token,
  })
  expect(verified.body.data).toMatchObject({ isAdmin: 0 })
})

test('a registration whose session cannot be opened creates no user, and can be confirmed again', async () => {
  await platform().addInvite('for-hal')
  const { inviteToken, secret } = await begin('for-hal', 'hal')
  const confirm = async () =>
    post('verify-registration', { username: 'hal', token: await platform().nextCode(secret), inviteToken })
  const { db } = platform()
  await sql`alter table sessions add constraint refuses check (id is null) not valid`.execute(db)
  try {
    expect((await confirm()).status).toBe(500)
  } finally {
    await sql`alter table sessions drop constraint refuses`.execute(db)
  }
  expect(await userNames()).not.toContain('hal')
  expect(await confirm()).toMatchObject({ status: 200 })
})

test('decisions §2: no user is created and no invite is used until the code is verified', async () => {
  await platform().addInvite('for-cleo')
  const { inviteToken, secret } = await begin('for-cleo', 'cleo')
  expect(await post('verify-registration', { username: 'cleo', token: '000000', inviteToken })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_CODE' },
  })
  expect(await userNames()).not.toContain('cleo')
  expect(
    await platform().db.selectFrom('invites').select('used_by').where('code', '=', 'for-cleo').executeTakeFirst(),
  ).toEqual({ used_by: null })
  expect(
    await post('verify-registration', { username: 'cleo', token: await platform().nextCode(secret), inviteToken }),
  ).toMatchObject({ status: 200 })
  expect(
    await platform().db.selectFrom('invites').select('used_by').where('code', '=', 'for-cleo').executeTakeFirst(),
  ).toEqual({ used_by: 'cleo' })
})

test('security 9: exactly one of 20 concurrent registrations with one invite succeeds', async () => {
  await platform().addInvite('for-one')
  const racers = []
  for (let number = 0; number < 20; number++) {
    await platform().db.deleteFrom('tries').execute()
    racers.push({ username: `racer${number}`, ...(await begin('for-one', `racer${number}`)) })
  }
  platform().clock.now += 30_000
  const { generate } = await import('otplib')
  const epoch = Math.floor(platform().clock.now / 1000)
  const answers = await Promise.all(
    racers.map(async ({ username, inviteToken, secret }) =>
      post('verify-registration', { username, inviteToken, token: await generate({ secret, epoch }) }),
    ),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ body }) => body.code === 'INVALID_INVITE')).toHaveLength(19)
  expect((await userNames()).filter((name) => name.startsWith('racer'))).toHaveLength(1)
})

test('a username taken during a registration is a conflict, and the invite stays unused', async () => {
  await platform().addInvite('one-of-two')
  await platform().addInvite('two-of-two')
  const one = await begin('one-of-two', 'dora')
  const two = await begin('two-of-two', 'Dora')
  expect(
    await post('verify-registration', {
      username: 'dora',
      inviteToken: one.inviteToken,
      token: await platform().nextCode(one.secret),
    }),
  ).toMatchObject({ status: 200 })
  const late = await post('verify-registration', {
    username: 'Dora',
    inviteToken: two.inviteToken,
    token: await platform().nextCode(two.secret),
  })
  expect(late).toMatchObject({ status: 409, body: { code: 'NAME_TAKEN', message: 'The username "Dora" is taken.' } })
  const again = await post('verify-invite', { inviteCode: 'two-of-two' })
  expect(
    await post('register', { username: 'DORA', password: 'correct horse', inviteToken: again.body.data.token }),
  ).toMatchObject({ status: 409 })
})

test.each([
  ['revoked', { revoked: true }],
  ['expired', { expires_at: new Date(0) }],
  ['used', { used_by: 'somebody' }],
])('an invite that is %s is refused', async (state, change) => {
  await platform().db.deleteFrom('tries').execute()
  await platform().addInvite(`is-${state}`)
  await platform().db.updateTable('invites').set(change).where('code', '=', `is-${state}`).execute()
  expect(await post('verify-invite', { inviteCode: `is-${state}` })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INVITE' },
  })
})

test('decisions §2: the invite token expires after 15 minutes', async () => {
  await platform().addInvite('for-later')
  const { inviteToken, secret } = await begin('for-later', 'eve')
  const { expires_at } = await platform()
    .db.selectFrom('registrations')
    .select('expires_at')
    .orderBy('expires_at', 'desc')
    .executeTakeFirstOrThrow()
  expect(expires_at.getTime() - platform().clock.now).toBe(15 * 60_000)
  await platform()
    .db.updateTable('registrations')
    .set({ expires_at: new Date(Date.now() - 1) })
    .execute()
  expect(
    await post('verify-registration', { username: 'eve', token: await platform().nextCode(secret), inviteToken }),
  ).toMatchObject({ status: 400, body: { code: 'STEP_EXPIRED' } })
})

test('guessing invite codes ends in 429', async () => {
  const answers = []
  for (let number = 0; number < 40; number++)
    answers.push(await post('verify-invite', { inviteCode: `guess-${number}` }))
  expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: 'TOO_MANY_TRIES' } })
})

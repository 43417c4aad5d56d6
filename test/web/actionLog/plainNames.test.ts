/** @jest-environment node */
import { draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { call, expectNowhere, exported, files, SECRET } from '../../support/web/exportedLog'

/** The calls that name a sign-in method, with the arguments that prove the user’s identity. */
const namings: [string, (name: string) => object][] = [
  ['renameMethod', (name) => ({ table: 'passkeys', id: 'm1', name })],
  ['createPasskey', (name) => ({ name, options: '{"challenge":"challenge"}' })],
  ['confirmAuthenticator', (name) => ({ setup: 'setup-token-1', name, code: '123456' })],
]
const methods = (name: string) =>
  call('getOwnMethods', undefined, 'fulfilled', {
    authenticators: [],
    passkeys: [{ id: 'm1', name, created_at: '2026' }],
    recoveryCodes: 0,
  })

test.each(namings)(
  'the name that %s sets for a sign-in method is not a secret, so it and equal names are kept',
  (endpoint, args) => {
    const actions = [call(endpoint, args('survival'), 'pending'), call(endpoint, args('survival'), 'fulfilled', null)]
    const { text, log } = exported([...actions, methods('survival'), files('survival')])
    expect(log.actions[0]!.meta).toMatchObject({ arg: { originalArgs: { name: 'survival' } } })
    expect(text).toContain('"/nfsshare/survival"')
    expect(text).not.toMatch(/challenge|setup-token|123456/)
  },
)

test.each(namings)('a secret that was typed as the name of a refused %s is masked', (endpoint, args) => {
  const failure = { status: 400, code: 'BAD_NAME', message: `The name ${SECRET} is taken.` }
  const { text } = exported([
    call(endpoint, args(SECRET), 'pending'),
    call(endpoint, args(SECRET), 'rejected', failure),
  ])
  expectNowhere(text)
})

test.each<[string, unknown, unknown]>([
  ['renameMethod', { table: 'passkeys', id: 'm1', name: 'x' }, { table: 'passkeys' }],
  [
    'createInviteCode',
    { message: 'x', role: 'limited', grants: [{ deployment: 'x', rights: ['configuration'] }] },
    { role: 'limited', grants: [{ deployment: expect.any(String), rights: ['configuration'] }] },
  ],
  ['setUserAccess', { id: 1, role: 'administrator', grants: [] }, { role: 'administrator' }],
  ['createApiKey', { name: 'x', scopes: ['databases'] }, { scopes: ['databases'] }],
  ['signInWithPasskey', 'alone', 'alone'],
])('the words of the console in the arguments of %s stay', (endpoint, args, kept) => {
  const { log } = exported([call(endpoint, args, 'pending')])
  expect((log.actions[0]!.meta as { arg: { originalArgs: unknown } }).arg.originalArgs).toEqual(
    typeof kept === 'string' ? kept : expect.objectContaining(kept as object),
  )
})

test('a log with a file named __proto__ and a draft of a deployment named constructor can be replayed', () => {
  const { text } = exported([
    files('__proto__', 'my__proto__', 'constructor'),
    draftTyped({ name: 'constructor', text: 'type: process' }),
  ])
  expect(text).toContain('"name":"(__proto__)"')
  expect(text).toContain('"name":"my__proto__"')
  expect(text).toContain('"drafts":{"constructor"')
})

/** @jest-environment node */
import { accessChosen, dialogOpened, inviteAccessChosen } from '../../../src/web/features/admin/adminSlice'
import { keyEdited } from '../../../src/web/features/account/keys/keysSlice'
import { notified } from '../../../src/web/facts'
import { nameTyped } from '../../../src/web/features/databases/databasesSlice'
import { creationEdited } from '../../../src/web/features/deployments/deploymentsSlice'
import { preferencesRecalled } from '../../../src/web/features/overview/overviewSlice'
import { call, expectNowhere, exported, files, later, SECRET } from '../../support/web/exportedLog'

const entry = { at: 1, username: 'ann', action: 'deleted', address: '::1', succeeded: true }
const deployments = call('getDeployments', undefined, 'fulfilled', [
  { name: 'big-world', type: 'process', enabled: true },
])

const activityOf = (...entries: object[]) =>
  call('getActivity', {}, 'fulfilled', {
    pages: [{ entries: entries.map((given, id) => ({ ...entry, id, ...given })), hasMore: false }],
    pageParams: [null],
  })
const shownIn = ({ actions }: { actions: { type: string; payload?: unknown }[] }) =>
  actions.flatMap(({ payload }) =>
    ((payload as { pages?: { entries: { subject: string }[] }[] }).pages ?? []).flatMap(({ entries }) =>
      entries.map(({ subject }) => subject.replaceAll(/•+\d*/g, '•')),
    ),
  )

test.each([
  { kind: 'deployment', subject: SECRET },
  { kind: 'power', subject: `${SECRET}-0a1b2c` },
  { kind: 'command', subject: `${SECRET}-0a1b2c: list` },
  { kind: 'file', subject: `/nfsshare/${SECRET}` },
  { kind: 'file', subject: `/nfsshare/${SECRET} to /nfsshare/plugins` },
  { kind: 'file', subject: `/nfsshare/plugins, /nfsshare/${SECRET}/x` },
  { kind: 'database', subject: SECRET },
  { kind: 'key', subject: SECRET },
  { kind: 'user', subject: `ann: ${SECRET}` },
  { kind: 'session', subject: SECRET },
  { kind: 'file', subject: '/nfsshare/plugins', api_key: SECRET },
])('a name that only the activity log contains is masked, because its thing may be deleted: %p', (activity) => {
  const actions = [activityOf(activity), preferencesRecalled({ view: null, filter: 'all', collapsed: [SECRET] })]
  expectNowhere(exported(actions).text)
  expectNowhere(exported([...actions, ...later]).text)
})

test('the activity log keeps the names that other responses contain', () => {
  const subjects = {
    deployment: 'big-world',
    power: 'big-world-0a1b2c',
    command: 'big-world-0a1b2c: list',
    file: '/nfsshare/plugins to /nfsshare/gone',
    user: 'administrator',
  }
  const activity = activityOf(...Object.entries(subjects).map(([kind, subject]) => ({ kind, subject })))
  expect(shownIn(exported([deployments, files('plugins'), activity]).log)).toEqual([
    'big-world',
    'big-world-0a1b2c',
    'big-world-0a1b2c: list',
    '/nfsshare/plugins to /nfsshare/•',
    'administrator',
  ])
})

const access = { role: 'limited' as const, grants: [{ deployment: SECRET, rights: ['view' as const] }] }
test.each([
  ['account', call('getAccount', undefined, 'fulfilled', access)],
  ['access', call('getUserAccess', 2, 'fulfilled', access)],
  ['invite codes', call('getInviteCodes', undefined, 'fulfilled', [{ message: 'for bob', ...access }])],
  [
    'changed access',
    {
      type: 'api/queries/queryResultPatched',
      payload: { queryCacheKey: 'getUserAccess(2)', patches: [{ op: 'replace', path: [], value: access }] },
    },
  ],
  ['API keys', call('getApiKeys', undefined, 'fulfilled', [{ id: 'a1', name: 'nightly', deployments: [SECRET] }])],
  ['API keys of a user', call('getUserKeys', 2, 'fulfilled', [{ id: 'a1', name: 'nightly', deployments: [SECRET] }])],
  ['the access chosen for an API key', keyEdited({ isRestricted: true, deployments: [SECRET] })],
  ['chosen access', accessChosen({ id: 2, access })],
  ['chosen access of an invite code', inviteAccessChosen(access)],
])('the name of a deleted deployment is masked in the grants of %s', (_kind, action) => {
  const actions = [
    dialogOpened({ kind: 'createInvite', message: '' }),
    action,
    preferencesRecalled({ view: null, filter: 'all', collapsed: [SECRET] }),
  ]
  expectNowhere(exported(actions).text)
  expectNowhere(exported([...actions, ...later]).text)
})

test('the names of deployments that still exist stay in grants', () => {
  const grants = [{ deployment: 'big-world', rights: ['view'] }]
  const account = call('getAccount', undefined, 'fulfilled', { role: 'limited', grants })
  expect(exported([account, deployments]).log.actions[0]!.payload).toMatchObject({ grants })
})

const NAME = 'hunter2-secret'
const succeeded = (endpointName: string, args: unknown, answer: unknown = null) => [
  call(endpointName, args, 'pending'),
  call(endpointName, args, 'fulfilled', answer),
]
const listing = call('getFiles', '/nfsshare/plugins', 'fulfilled', {
  files: [{ path: `/nfsshare/plugins/${NAME}`, name: NAME, type: 'f' }],
  deploymentTypeIndex: null,
})
const key = { id: 'a1', name: NAME, prefix: 'qd_aa', scopes: [], created_at: '2026', last_used_at: null }
const passkey = { id: 'p1', name: NAME, created_at: '2026', last_used_at: null }
test.each([
  [
    'deployment',
    [creationEdited({ name: NAME }), call('getDeployments', undefined, 'fulfilled', [{ name: NAME }])],
    succeeded('deleteDeployment', NAME),
  ],
  [
    'database',
    [nameTyped(NAME), call('getDatabases', 'sql', 'fulfilled', [{ name: NAME, size: 1, tables: [] }])],
    succeeded('deleteDatabase', { type: 'sql', name: NAME }),
  ],
  ['file', [files(NAME)], succeeded('deleteFiles', [{ path: `/nfsshare/${NAME}`, type: 'f' }])],
  [
    'directory of a file',
    [call('createFile', `/nfsshare/plugins/${NAME}`, 'fulfilled', null), files('plugins'), listing],
    succeeded('deleteFiles', [{ path: '/nfsshare/plugins', type: 'd' }]),
  ],
  [
    'file under its earlier name',
    [files(NAME)],
    succeeded('renameFile', { path: `/nfsshare/${NAME}`, targetPath: '/nfsshare/a' }),
  ],
  ['API key', succeeded('getApiKeys', undefined, [key]), succeeded('deleteApiKey', 'a1')],
  [
    'passkey',
    succeeded('getOwnMethods', undefined, { passkeys: [passkey] }),
    succeeded('removeMethod', { table: 'passkeys', id: 'p1' }),
  ],
])('the name of a %s that was deleted is masked in earlier responses, too', (_kind, before, deletion) => {
  const actions = [...before, ...deletion, notified('success', `Successfully deleted ${NAME}`)]
  expectNowhere(exported(actions).text, NAME)
  const refused = [
    ...before,
    call(String(deletion[0]!.meta.arg.endpointName), deletion[0]!.meta.arg.originalArgs, 'rejected', {
      status: 500,
      message: 'No.',
    }),
  ]
  expect(exported(refused).text).toContain(NAME)
})

const NAMED = { name: NAME, type: 'process', enabled: true }
test.each<[string, unknown, unknown, unknown]>([
  ['getDeployments', undefined, [NAMED, { name: 'hub' }], [{ name: 'hub' }]],
  ['getDatabases', 'sql', [{ name: NAME }], []],
  ['getOverview', undefined, { sections: [{ deployment: NAMED, instances: [] }] }, { sections: [] }],
])(
  'a name that a later response to %s(%j) does not contain is masked in the earlier one',
  (endpoint, args, ...answers) => {
    const [before, after] = answers.map((answer) => call(endpoint, args, 'fulfilled', answer))
    expectNowhere(exported([before!, after!]).text, NAME)
    expectNowhere(exported([before!, after!, ...later]).text, NAME)
    expect(exported([before!, before!]).text).toContain(NAME)
  },
)

test.each(['server', 'server.properties'])('the name %s stays, although a file of this name was deleted', (name) => {
  const actions = [files(name), ...succeeded('deleteFiles', [{ path: `/nfsshare/${name}`, type: 'f' }])]
  expect(exported(actions).text).toContain(`/nfsshare/${name}`)
})

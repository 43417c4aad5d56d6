/** @jest-environment node */
import { createDeletedNames } from '../../../src/web/actionLog/record/deletedNames'
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
  { kind: 'file', subject: '/nfsshare/plugins', username: SECRET },
])('a name that only the activity log contains is masked, because its thing may be deleted: %p', (activity) => {
  const actions = [activityOf(activity), preferencesRecalled({ view: null, filter: 'all', collapsed: [SECRET] })]
  expectNowhere(exported(actions).text)
  expectNowhere(exported([...actions, ...later]).text)
})

test('the user of an invite code is masked, because their account may be deleted', () => {
  const used = call('getInviteCodes', undefined, 'fulfilled', [{ message: 'for bob', used_by: SECRET }])
  expectNowhere(exported([used]).text)
  expectNowhere(exported([used, ...later]).text)
  const users = call('getUsers', undefined, 'fulfilled', [{ id: 1, username: SECRET, is_admin: false }])
  expect(exported([used, users]).log.actions[0]!.payload).toMatchObject([{ used_by: SECRET }])
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
  ['chosen access', accessChosen({ id: 2, access, saved: access })],
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
const inDirectory = (path: string, ...names: string[]) =>
  call('getFiles', path, 'fulfilled', {
    files: names.map((name) => ({ path: `${path}/${name}`, name, type: 'f' })),
    deploymentTypeIndex: null,
  })
const deletionOf = (path: string) => succeeded('deleteFiles', [{ path, type: 'd' }])
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
    'directory of a file that was renamed',
    [
      inDirectory('/nfsshare/plugins', 'a.txt'),
      call(
        'renameFile',
        { path: '/nfsshare/plugins/a.txt', targetPath: `/nfsshare/plugins/${NAME}` },
        'fulfilled',
        null,
      ),
      inDirectory('/nfsshare/plugins', NAME),
    ],
    deletionOf('/nfsshare/plugins'),
  ],
  [
    'renamed directory of a file',
    [
      inDirectory('/nfsshare/plugins/old', NAME),
      call('renameFile', { path: '/nfsshare/plugins', targetPath: '/nfsshare/new' }, 'fulfilled', null),
    ],
    deletionOf('/nfsshare/new'),
  ],
  [
    'directory that a file was moved to',
    [
      inDirectory('/nfsshare/plugins', NAME),
      call(
        'moveFiles',
        [{ path: `/nfsshare/plugins/${NAME}`, targetPath: `/nfsshare/new/${NAME}` }],
        'fulfilled',
        null,
      ),
    ],
    deletionOf('/nfsshare/new'),
  ],
  [
    'user',
    [call('getUsers', undefined, 'fulfilled', [{ id: 7, username: NAME, is_admin: false }])],
    succeeded('deleteUser', 7),
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

test.each([
  ['the others could not be deleted', { status: 409, message: 'No.', failed: [{ path: '/nfsshare/plugins' }] }],
  ['the response was lost', { status: 'UNREACHABLE' }],
  ['a proxy answered', { status: 504 }],
  ['another user deleted it before', { status: 404, failed: [{ path: `/nfsshare/${NAME}` }] }],
])('the name of a file that was deleted is masked although %s', (_why, failure) => {
  const paths = ['/nfsshare/plugins', `/nfsshare/${NAME}`].map((path) => ({ path, type: 'f' }))
  expectNowhere(exported([files(NAME, 'plugins'), call('deleteFiles', paths, 'rejected', failure)]).text, NAME)
})

test.each([
  ['getInstances', NAME],
  ['getDeploymentConfig', NAME],
  ['restartDeployment', NAME],
  ['getFiles', `/nfsshare/${NAME}`],
  ['deleteDatabase', { type: 'sql', name: NAME }],
  ['resetDatabasePassword', { type: 'sql', name: NAME }],
  ['toggleDeployment', { name: NAME, enabled: true }],
  ['saveDeploymentConfig', { name: NAME, content: '' }],
  ['archiveFiles', [{ path: `/nfsshare/${NAME}`, name: NAME, type: '-' }]],
  ['unarchiveFile', { path: `/nfsshare/${NAME}`, name: NAME, type: '-' }],
  ['downloadFiles', { items: [{ path: `/nfsshare/${NAME}`, name: NAME, type: '-' }], as: `${NAME}.zip` }],
  ['saveFile', { path: `/nfsshare/${NAME}`, text: 'held 1' }],
  ['getUserAccess', 7],
  ['setPassword', { id: 7, password: 'held 1', endOtherAccess: false }],
])('a name that the server does not know any more is masked: %s', (endpoint, args: unknown) => {
  const listed = call('getDeployments', undefined, 'fulfilled', [{ name: NAME }])
  const users = call('getUsers', undefined, 'fulfilled', [{ id: 7, username: NAME, is_admin: false }])
  const failed = (status: number) => call(endpoint, args, 'rejected', { status, message: `There is no "${NAME}".` })
  expectNowhere(exported([listed, users, files(NAME), failed(404)]).text, NAME)
  expect(exported([listed, users, files(NAME), failed(403)]).text).toContain(NAME)
})

test('the names in a directory that is missing are masked', () => {
  const missing = call('getFiles', '/nfsshare/plugins', 'rejected', { status: 404, message: 'No.' })
  expectNowhere(exported([files('plugins'), listing, missing]).text, NAME)
})

test.each<[string, unknown]>([
  ['createFile', `/nfsshare/plugins/${NAME}`],
  ['createDirectory', `/nfsshare/plugins/${NAME}`],
  ['renameFile', { path: '/nfsshare/plugins/a', targetPath: `/nfsshare/plugins/${NAME}` }],
])('a file that got its name by %s is masked once its directory lacks it', (endpoint, args) => {
  const named = call(endpoint, args, 'fulfilled', null)
  const emptied = inDirectory('/nfsshare/plugins', 'a')
  const lost = call(endpoint, args, 'rejected', { status: 'UNREACHABLE' })
  for (const first of [named, lost]) expectNowhere(exported([first, listing, emptied]).text, NAME)
  expect(exported([named, listing, listing, inDirectory('/nfsshare', 'plugins')]).text).toContain(NAME)
  // Programs delete their files themselves.
  expect(exported([listing, emptied]).text).toContain(NAME)
})

test('a listing of another server may have an entry that is null', () => {
  const listed = call('getFiles', '/nfsshare/plugins', 'fulfilled', { files: [null], deploymentTypeIndex: null })
  const created = call('createFile', `/nfsshare/plugins/${NAME}`, 'fulfilled', null)
  expectNowhere(exported([listing, created, listed]).text, NAME)
})

test('the names of several files stay if the server does not know one of them', () => {
  const paths = ['a', NAME].map((name) => ({ path: `/nfsshare/${name}`, name, type: '-' }))
  const failed = call('archiveFiles', paths, 'rejected', { status: 404, message: 'There is no /nfsshare/a.' })
  expect(exported([files('a', NAME), failed]).text).toContain(NAME)
})

test('of thousands of names that were deleted, the newest 2,000 are masked', () => {
  const names = createDeletedNames()
  const many = Array.from({ length: 2500 }, (_, index) => `r.${index}.0.mca`)
  const actions = [
    inDirectory('/nfsshare/world/region', ...many),
    ...succeeded('deleteFiles', [{ path: '/nfsshare/world', type: 'd' }]),
    files(NAME),
    ...succeeded('deleteFiles', [{ path: `/nfsshare/${NAME}`, type: 'f' }]),
  ]
  actions.forEach(names.note)
  expect(names.list()).toEqual([...many.slice(-1999), NAME])
})

test('the name of a file that could not be deleted stays', () => {
  const path = `/nfsshare/${NAME}`
  const failure = { status: 409, message: 'No.', failed: [{ path }] }
  const actions = [files(NAME), call('deleteFiles', [{ path, type: 'f' }], 'rejected', failure)]
  expect(exported(actions).text).toContain(NAME)
})

test.each(['dataDirectory: /', 'dataDirectory: "/', 'node: '])(
  'an earlier setting of a definition is masked: %s',
  (setting) => {
    const definition = (line: string) =>
      call('getDeploymentConfig', 'hub', 'fulfilled', { content: `name: hub\n${line}\n`, warnings: [] })
    const quote = setting.includes('"') ? '"' : ''
    const before = definition(`${setting}${NAME}${quote}`)
    expectNowhere(exported([before, definition('dataDirectory: /hub')]).text, NAME)
    const saved = call('saveDeploymentConfig', { name: 'hub', content: 'name: hub\n' }, 'fulfilled', { warnings: [] })
    expectNowhere(exported([before, saved]).text, NAME)
  },
)

const methods = { authenticators: [], passkeys: [], recoveryCodes: 0 }
const NAMED = { name: NAME, type: 'process', enabled: true }
test.each<[string, unknown, unknown, unknown]>([
  ['getDeployments', undefined, [NAMED, { name: 'hub' }], [{ name: 'hub' }]],
  ['getDeployments', undefined, [{ name: 'hub', dataDirectory: `/${NAME}` }], [{ name: 'hub', dataDirectory: '/hub' }]],
  ['getDeployments', undefined, [{ name: 'hub', path: `/nfsshare/${NAME}` }], [{ name: 'hub' }]],
  ['getDeployments', undefined, [{ name: 'hub', node: NAME }], [{ name: 'hub' }]],
  ['getDatabases', 'sql', [{ name: NAME }], []],
  ['getApiKeys', undefined, [key], []],
  ['getUserKeys', 7, [key], []],
  ['getOwnMethods', undefined, { ...methods, passkeys: [passkey] }, methods],
  ['getUserMethods', 7, { ...methods, passkeys: [passkey] }, methods],
  ['getUsers', undefined, [{ id: 7, username: NAME, is_admin: false }], []],
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

test.each<[string, ReturnType<typeof call>, ReturnType<typeof call>]>([
  [
    'a created database',
    call('createDatabase', { type: 'sql', name: NAME }, 'fulfilled', [{ name: NAME, credentials: {} }]),
    call('getDatabases', 'sql', 'fulfilled', []),
  ],
  [
    'a created API key',
    call('createApiKey', { name: NAME, scopes: ['view'] }, 'fulfilled', { info: key, text: 'held 1' }),
    call('getApiKeys', undefined, 'fulfilled', []),
  ],
  [
    'a listed deployment',
    call('getDeployments', undefined, 'fulfilled', [NAMED]),
    call('getOverview', undefined, 'fulfilled', { sections: [] }),
  ],
  [
    'a deployment of the overview',
    call('getOverview', undefined, 'fulfilled', { sections: [{ deployment: NAMED, instances: [] }] }),
    call('getDeployments', undefined, 'fulfilled', []),
  ],
])('the name of %s is masked if a later list of another call lacks it', (_kind, before, after) => {
  expect(exported([before]).text).toContain(NAME)
  expectNowhere(exported([before, after]).text, NAME)
  expectNowhere(exported([before, after, ...later]).text, NAME)
})

test('the name of a database stays while only a list of the other kind lacks it', () => {
  const made = call('createDatabase', { type: 'sql', name: NAME }, 'fulfilled', [{ name: NAME, credentials: {} }])
  expect(exported([made, call('getDatabases', 'mongo', 'fulfilled', [])]).text).toContain(NAME)
})

test.each([
  ...['15977949', '159-779-490', '15-97-79', '1 5 9 7 7 9', '１５９７７９', 'ｌｏｇ１５９', '١٥٩٧٧٩'],
  ...['--_,-- _', 'purple horse battery', 'hunter&two'],
])('a deleted name that looks like a secret is masked: %s', (name) => {
  const actions = [files(name), ...succeeded('deleteFiles', [{ path: `/nfsshare/${name}`, type: 'f' }])]
  expectNowhere(exported(actions).text, name)
})

test.each(['server', 'server.properties', 'hub (copy)', '2026-11-28', '2026_11_28'])(
  'the name %s stays, although a file of this name was deleted',
  (name) => {
    const actions = [files(name), ...succeeded('deleteFiles', [{ path: `/nfsshare/${name}`, type: 'f' }])]
    expect(exported(actions).text).toContain(`/nfsshare/${name}`)
  },
)

/** @jest-environment node */
import { actionRules } from '../../../src/web/actionLog/redact/redaction'
import { typedPayloads } from '../../../src/web/actionLog/export/typedPlaces'
import { problemLogged, sessionEnded, sessionStarted } from '../../../src/web/facts'
import { dialogOpened, inviteMessageTyped } from '../../../src/web/features/admin/adminSlice'
import { creationStarted as databaseStarted } from '../../../src/web/features/databases/databasesSlice'
import {
  creationEdited as deploymentEdited,
  creationStarted as deploymentStarted,
} from '../../../src/web/features/deployments/deploymentsSlice'
import { creationStarted as fileStarted, filterTyped, moveStarted } from '../../../src/web/features/files/filesSlice'
import { themeChosen } from '../../../src/web/app/themeSlice'
import { call, expectNowhere, exported, files, later, SECRET } from '../../support/web/exportedLog'

type Action = { type: string }

const byKey = (text: string) => Array.from(text, (_letter, at) => filterTyped(text.slice(0, at + 1)))
const typedAs = (actions: { type: string; payload?: unknown }[]) => actions.map(({ payload }) => payload)
const payloadOf = (typed: unknown): unknown =>
  typed === 'text'
    ? SECRET
    : typed === 'address'
      ? `/files/${SECRET}?q=${SECRET}&${SECRET}=1`
      : typed === 'definition'
        ? `name: ${SECRET}\ntype: ${SECRET}\nnode: ${SECRET}\ndescription: ${SECRET}\n`
        : Object.fromEntries(Object.entries(typed as object).map(([field, kind]) => [field, payloadOf(kind)]))

const dialogs: Action[] = [
  dialogOpened({ kind: 'createInvite', message: '' }),
  databaseStarted('sql'),
  deploymentStarted('process'),
  fileStarted(),
]

test.each(Object.entries(typedPayloads))(
  'a text that only %s holds is masked, in the action and later in the base state',
  (type, typed) => {
    const payload = type === 'drafts/offersChanged' ? [payloadOf(typed)] : payloadOf(typed)
    const move = type === 'files/destinationTyped' ? [moveStarted([])] : []
    const actions = [...dialogs, ...move, { type, payload } as Action]
    expect(exported(actions).text).not.toContain(SECRET)
    expectNowhere(exported([...actions, ...later]).text)
  },
)

test('every action that tells of typing is listed, or its texts are masked when they are recorded', () => {
  const typing = Object.keys(actionRules).filter((type) => /(?:typed|edited|searched|filtered)$/i.test(type))
  const masked = ['login/usernameTyped']
  expect(typing.filter((type) => !Object.hasOwn(typedPayloads, type) && !masked.includes(type))).toEqual([])
})

test('the name of something that an answer holds stays, with every state of its typing', () => {
  const typing = [
    ...['w', 'wo', 'wor', 'worl', 'world'].map((name) => deploymentEdited({ name })),
    call('createDeployment', { name: 'world', type: 'process' }, 'pending'),
    call('getDeployments', undefined, 'fulfilled', [{ name: 'world', type: 'process' }]),
  ]
  const { log } = exported([deploymentStarted('process'), ...typing])
  expect(typedAs(log.actions.slice(1, 6))).toEqual(typedAs(typing.slice(0, 5) as { type: string; payload?: unknown }[]))
  expect(log.actions[6]!.meta).toMatchObject({ arg: { originalArgs: { name: 'world', type: 'process' } } })
})

test('a part of a name stays', () => {
  const { log } = exported([files('server.properties'), filterTyped('PROP')])
  expect(log.actions[1]!.payload).toBe('PROP')
})

test('the first letters of what became a secret are masked, though a name begins with them', () => {
  const { log } = exported([files('hunting.txt'), ...byKey(SECRET)])
  expect(typedAs(log.actions.slice(1)).join('')).toMatch(/^[•\d]+$/)
})

test('what is left when a secret is deleted from its end is masked, and a name that is left stays', () => {
  const { log } = exported([
    files('hunting.txt', 'world'),
    ...['hunter2', 'hunt', 'hu', '', 'worldx', 'world'].map((text) => filterTyped(text)),
  ])
  expect(typedAs(log.actions.slice(1))).toEqual([
    expect.stringMatching(/^•+\d*$/),
    expect.stringMatching(/^•+\d*$/),
    expect.stringMatching(/^•+\d*$/),
    '',
    expect.stringMatching(/^•+\d*$/),
    'world',
  ])
})

test('the arguments of a call that failed are masked, and so are the failure and the notification that quote them', () => {
  const { text, log } = exported([
    call('createFile', `/nfsshare/${SECRET}`, 'pending'),
    call('createFile', `/nfsshare/${SECRET}`, 'rejected', { status: 409, message: `${SECRET} exists already` }),
    {
      type: 'notifications/notified',
      payload: { id: '1', type: 'danger', message: `Failed to create ${SECRET}` },
    } as Action,
    ...later.slice(0, 10),
  ])
  expect(text).not.toContain(SECRET)
  expect(log.actions[1]!.payload).toEqual({ status: 409, message: '••• exists already' })
  expect(log.actions[2]!.payload).toMatchObject({ message: 'Failed to create •••' })
  expect(
    exported([
      call('createFile', `/nfsshare/${SECRET}`, 'pending'),
      {
        type: 'notifications/notified',
        payload: { id: '1', type: 'danger', message: `Failed to create ${SECRET}` },
      } as Action,
    ]).text,
  ).not.toContain(SECRET)
})

test('what was searched for is in no key and no tag of the cache, and the page finds what it shows by them', () => {
  const search = { search: SECRET }
  const key = `getActivity(${JSON.stringify(search)})`
  const path = `/nfsshare/${SECRET}`
  const actions = [
    call('getActivity', search, 'pending'),
    call('getActivity', search, 'fulfilled', { entries: [], next: null }),
    {
      type: 'api/internalSubscriptions/subscriptionsUpdated',
      payload: [{ op: 'add', path: [key], value: { r1: {} } }],
    },
    call('getFiles', path, 'pending'),
    call('getFiles', path, 'rejected', { status: 404, message: `There is no ${path}.` }),
    {
      type: 'api/invalidation/updateProvidedBy',
      payload: [{ queryCacheKey: `getFiles(${JSON.stringify(path)})`, providedTags: [{ type: 'Files', id: path }] }],
    },
    sessionStarted({ id: 'x', isAdmin: true, expiresAt: 1 }),
  ]
  const { text, log } = exported(actions)
  expect(text).not.toContain(SECRET)
  const { queries } = log.final.api as { queries: Record<string, { originalArgs: unknown; status: string }> }
  expect(Object.keys(queries).map((name) => name.replace(/•+\d*/, '•'))).toEqual([
    'getActivity({"search":"•"})',
    'getFiles("/nfsshare/•")',
  ])
  expect(Object.values(queries)[0]).toMatchObject({ status: 'fulfilled' })
  expectNowhere(exported([...actions, ...later]).text)
})

test('a password of letters that a player has for a name is no key of the state', () => {
  const password = 'hunterhunter'
  const login = call('login', { username: 'ann', password }, 'pending')
  const instances = call('getInstances', 'world', 'fulfilled', [
    { uid: 'u', name: 'world', players: { [password]: password } },
  ])
  const draft = { type: 'configuration/draftTyped', payload: { name: password, text: 'name: x' } } as Action
  const deployments = call('getDeployments', undefined, 'fulfilled', [{ name: password }])
  expect(exported([login, instances, draft, deployments]).text).not.toContain(password)
  expect(exported([login, instances, draft, deployments, ...later]).text).not.toContain(password)
})

test('an invite that was created keeps its message, and one that was not does not', () => {
  const codes = call('getInviteCodes', undefined, 'fulfilled', [{ message: 'for bob' }])
  const { log } = exported([codes, dialogs[0]!, inviteMessageTyped('for bob'), inviteMessageTyped('for eve')])
  expect(typedAs(log.actions.slice(2))).toEqual(['for bob', expect.stringMatching(/^•+\d*$/)])
})

test('what a call was given is masked where the state keeps it longer than the log keeps the call', () => {
  const path = `/nfsshare/${SECRET}`
  const actions = [
    call('createDatabase', { type: 'sql', name: SECRET }, 'pending'),
    call('createDatabase', { type: 'sql', name: SECRET }, 'rejected', { status: 409, message: `${SECRET} exists` }),
    problemLogged(`Failed to create SQL database ${SECRET}`, 'It exists.'),
    call('getFiles', path, 'pending'),
    {
      type: 'api/invalidation/updateProvidedBy',
      payload: [{ queryCacheKey: `getFiles(${JSON.stringify(path)})`, providedTags: [{ type: 'Files', id: path }] }],
    },
    { type: 'api/queries/removeQueryResult', payload: { queryCacheKey: `getFiles(${JSON.stringify(path)})` } },
  ]
  expectNowhere(exported([...actions, ...later]).text)
})

test('the activity log repeats what a refused call was given, which is no answer', () => {
  const entry = { id: 1, at: 1, username: 'ann', kind: 'files', action: 'failed to move', address: '::1' }
  const pages = (succeeded: boolean) => ({
    pages: [{ entries: [{ ...entry, subject: `/nfsshare/${SECRET}`, succeeded }], hasMore: false }],
    pageParams: [null],
  })
  const actions = (succeeded: boolean) => [
    call('getActivity', {}, 'pending'),
    call('getActivity', {}, 'fulfilled', pages(succeeded)),
    filterTyped(SECRET),
  ]
  expectNowhere(exported(actions(false)).text)
  expectNowhere(exported([...actions(false), ...later]).text)
  expect(exported(actions(true)).log.actions[2]!.payload).toBe(SECRET)
})

test('directories that could not be created are no answer', () => {
  const path = `/nfsshare/${SECRET}`
  expectNowhere(
    exported([
      call('createDirectories', [path], 'pending'),
      call('createDirectories', [path], 'fulfilled', { existing: [], failed: [{ path, message: 'no' }] }),
      filterTyped(SECRET),
    ]).text,
  )
})

test('two searches that are masked are two queries, and their first letters mask no message', () => {
  const { log } = exported([
    ...['fai', 'fail'].flatMap((search) => [
      call('getActivity', { search }, 'pending'),
      call('getActivity', { search }, 'fulfilled', { pages: [], pageParams: [] }),
    ]),
    problemLogged('Failed to create world', 'It exists.'),
  ])
  expect(Object.keys((log.final.api as { queries: object }).queries)).toHaveLength(2)
  expect((log.final.problems as { list: object[] }).list[0]).toMatchObject({ what: 'Failed to create world' })
})

test('a word of the console stays where a search for it is masked', () => {
  const { log } = exported([call('getActivity', { search: 'dark' }, 'pending'), themeChosen('dark')])
  expect(log.actions[1]!.payload).toBe('dark')
})

test('what was taken away from the start of a secret, or is its end, is masked', () => {
  const { log } = exported([files('secrets.txt'), filterTyped(SECRET), filterTyped('secret')])
  expect(typedAs(log.actions.slice(1))).toEqual(Array(2).fill(expect.stringMatching(/^•+\d*$/)))
})

test('the log of one user has nothing of the user before', () => {
  const session = (username: string) =>
    sessionStarted({ id: username, isAdmin: false, subject: username, expiresAt: 1, username })
  const { log } = exported([session('ann'), files('of-ann.txt'), sessionEnded('signedOut'), session('bob')])
  expect(log.actions.map(({ type }) => type)).toEqual(['session/started'])
  expect(JSON.stringify(log)).not.toContain('of-ann')
  expect(exported([session('ann'), sessionEnded('expired'), session('ann')]).log.actions).toHaveLength(3)
})

/** @jest-environment node */
import { actionRules } from '../../../src/web/actionLog/redact/redaction'
import { typedPayloads } from '../../../src/web/actionLog/export/typedPlaces'
import { problemLogged, sessionEnded, sessionStarted } from '../../../src/web/facts'
import { activityFiltered, dialogOpened } from '../../../src/web/features/admin/adminSlice'
import { creationStarted as databaseStarted } from '../../../src/web/features/databases/databasesSlice'
import {
  creationEdited as deploymentEdited,
  creationStarted as deploymentStarted,
} from '../../../src/web/features/deployments/deploymentsSlice'
import {
  creationStarted as fileStarted,
  destinationTyped,
  fileOpened,
  filterTyped,
  moveStarted,
} from '../../../src/web/features/files/filesSlice'
import { draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { matchShown, searched } from '../../../src/web/features/instance/instanceSlice'
import { routeChanged } from '../../../src/web/app/routing/routeSlice'
import { createRecorder } from '../../../src/web/actionLog/record/recorder'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { commandSent, commandSubmitted, linesReceived } from '../../../src/web/sockets/consoleSlice'
import { themeChosen } from '../../../src/web/app/themeSlice'
import { call, expectNowhere, exported, files, later, SECRET } from '../../support/web/exportedLog'

type Action = { type: string }

const recorded = (actions: Action[], output: boolean) => {
  const recorder = createRecorder(replayReducer({}, { type: 'begun' }), 1000, replayReducer)
  actions.forEach((action, index) => recorder.note(1000 + index * 10, action))
  return recorder.recording(output)
}

const byKey = (text: string) => Array.from(text, (_letter, at) => filterTyped(text.slice(0, at + 1)))
const nodeTyped = (node: string) => draftTyped({ name: 'world', text: `node: ${node}\n` })
const typedAs = (actions: { type: string; payload?: unknown }[]) => actions.map(({ payload }) => payload)
const payloadOf = (typed: unknown): unknown =>
  typed === 'text' || typed === 'subject'
    ? SECRET
    : typed === 'command'
      ? `say ${SECRET}`
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
  'a text typed in %s is masked in the action and later in the base state',
  (type, typed) => {
    const isList = ['drafts/offersChanged', 'instance/commandsRecalled'].includes(type)
    const payload = isList ? [payloadOf(typed)] : payloadOf(typed)
    const before: Record<string, Action> = {
      'files/destinationTyped': moveStarted([]),
      'files/leaveAsked': fileOpened({ path: '/nfsshare/notes.txt', name: 'notes.txt', type: '-' }),
    }
    const actions = [...dialogs, ...(before[type] ? [before[type]] : []), { type, payload } as Action]
    expect(exported(actions).text).not.toContain(SECRET)
    expectNowhere(exported([...actions, ...later]).text)
  },
)

test('every action with typed text is listed in typedPayloads or masked when it is recorded', () => {
  const typing = Object.keys(actionRules).filter((type) => /(?:typed|edited|searched|filtered)$/i.test(type))
  const masked = ['login/usernameTyped']
  expect(typing.filter((type) => !Object.hasOwn(typedPayloads, type) && !masked.includes(type))).toEqual([])
})

test('a name that a response contains is kept, with every prefix that was typed before it', () => {
  const typing = [
    ...['w', 'wo', 'wor', 'worl', 'world'].map((name) => deploymentEdited({ name })),
    call('createDeployment', { name: 'world', type: 'process' }, 'pending'),
    call('getDeployments', undefined, 'fulfilled', [{ name: 'world', type: 'process' }]),
  ]
  const { log } = exported([deploymentStarted('process'), ...typing])
  expect(typedAs(log.actions.slice(1, 6))).toEqual(typedAs(typing.slice(0, 5) as { type: string; payload?: unknown }[]))
  expect(log.actions[6]!.meta).toMatchObject({ arg: { originalArgs: { name: 'world', type: 'process' } } })
})

test('a part of a known name is kept', () => {
  const { log } = exported([files('server.properties'), filterTyped('PROP')])
  expect(log.actions[1]!.payload).toBe('prop')
})

test.each(['4827', '7731'])('a PIN such as %s is masked even if the digits are in an id of a response', (pin) => {
  const { log } = exported([files('9c9ac30d-a21a-4827-bfa4-42c937731ee8', 'f77312-world', 'b4827a'), ...byKey(pin)])
  expect(typedAs(log.actions.slice(1)).join('')).toMatch(/^(?:•+\d?)+$/)
  expect(typedAs(log.actions.slice(1))).not.toContain(pin)
})

test('a part of a known name that consists of digits is kept', () => {
  const { log } = exported([files('backup-4827.zip', 'world7731'), filterTyped('4827'), filterTyped('7731')])
  expect(typedAs(log.actions.slice(1))).toEqual(['4827', '7731'])
})

test('every prefix of a secret that was typed key by key is masked, even if a known name starts with it', () => {
  const { log } = exported([files('hunting.txt'), ...byKey(SECRET)])
  expect(typedAs(log.actions.slice(1)).join('')).toMatch(/^[•\d]+$/)
})

test.each(['d7ragon-Xq9', '1qaz-Xq9wsx', 'viewdown-Xq9', 'filed-Xq9'])(
  'a prefix of the secret %s is masked even if it is an id or the console’s own word in a response',
  (secret) => {
    const session = sessionStarted({ id: 's1', isAdmin: true, subject: '1', expiresAt: 1, username: 'ann' })
    const account = call('getAccount', undefined, 'fulfilled', {
      role: 'limited',
      grants: [{ deployment: 'lobby', rights: ['view', 'console'] }],
    })
    const directory = { files: [{ path: '/nfsshare/x', name: 'x', type: 'd' }], deploymentTypeIndex: null }
    const activity = { pages: [{ entries: [{ kind: 'file', subject: 'x', succeeded: true }] }], pageParams: [null] }
    const answers = [
      session,
      account,
      call('getFiles', '/nfsshare', 'fulfilled', directory),
      call('getActivity', {}, 'fulfilled', activity),
    ]
    const { log } = exported([...answers, ...byKey(secret)])
    expect(typedAs(log.actions.slice(answers.length)).join('')).toMatch(/^[•\d]+$/)
    expect(typedAs(log.actions.slice(answers.length))).not.toContain('1')
  },
)

test.each(['admin-Xq9', 'security7Xq9', 'expired.Xq9'])(
  'a prefix of the secret %s is masked even if it is the console’s own word in addresses',
  (secret) => {
    const states = Array.from(secret, (_letter, at) => secret.slice(0, at + 1))
    const typing = states.flatMap((text) => [
      filterTyped(text),
      deploymentEdited({ name: text }),
      destinationTyped(`/nfsshare/${text}`),
      draftTyped({ name: 'world', text: `name: ${text}\n` }),
      activityFiltered({ search: text }),
      call('getActivity', { search: text }, 'pending'),
    ])
    const shown = (actions: Action[]) => JSON.stringify(exported([files('notes.txt'), ...dialogs, ...actions]).log)
    const word = /^[a-z]+/.exec(secret)![0]
    for (const actions of [typing, typing.slice(0, 6 * word.length), [...typing.slice(0, 6 * word.length), ...later]])
      expect(new RegExp(`(?:"|share/|name: )${word}(?:"(?!:)|\\\\)`).exec(shown(actions))).toBeNull()
  },
)

test('a part of a path that was typed is masked even if it is the console’s own word in addresses', () => {
  const { log } = exported([files('notes.txt'), call('createFile', '/nfsshare/users/Qx7', 'pending')])
  expect(log.actions[1]!.meta).toMatchObject({
    arg: { originalArgs: expect.stringMatching(/^\/nfsshare\/•+\d*\/•+\d*$/) as string },
  })
})

test('the name of an endpoint stays in the keys of the cache, whatever was typed before', () => {
  const key = 'getFiles("/nfsshare")'
  const provided = {
    type: 'api/invalidation/updateProvidedBy',
    payload: [{ queryCacheKey: key, providedTags: [{ type: 'Files', id: '/nfsshare' }] }],
  }
  const { text } = exported([files('notes.txt'), provided, ...byKey('filesX7q'), ...later])
  expect(text).toContain(JSON.stringify(key).slice(1, -1))
  expect(text).not.toContain('get•••')
})

test('the prefixes that remain while a secret is deleted are masked, and a known name is kept', () => {
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

test.each([
  ['typed, deleted, and typed anew', ['hunt', 'hu', 'hun', '', 'hunter2secret']],
  ['typed from its end', ['et', 'ret', 'ecret', 'hunter2secret']],
  ['left when its middle is deleted', ['hunter2secret', 'hsecret', 'hret', 'ht']],
])('a secret that is %s is masked, even after the other actions were evicted from the log', (_what, states) => {
  const names = files('hunting.txt', 'secrets.txt', 'heret', 'night')
  const places: ((text: string) => Action)[] = [filterTyped, nodeTyped]
  for (const typing of places) {
    expect(JSON.stringify(exported([names, ...states.map((text) => typing(text))]).log.actions.slice(1))).not.toMatch(
      /[":] ?(?:h|hu|hun|hunt|et|ret|ecret|hret|ht)(?:"|\\\\n)/,
    )
    for (const last of states.filter((text) => text !== '')) {
      const typed = [...states.filter((text) => text !== last), last].map((text) => typing(text))
      const { files, configuration } = exported([names, ...typed, ...later]).log.base
      expect(JSON.stringify([files, configuration])).not.toContain(last)
    }
  }
})

test('the arguments of a failed call are masked, also in its error and its notification', () => {
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

test('search texts are masked in cache keys and tags, and a replay still finds its data', () => {
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

test('a password that equals the name of a player is masked as a property name', () => {
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

const sent = (command: string) => [commandSubmitted(command), commandSent()]
test('in a harmless command, the words that say what it does and the names in responses are kept', () => {
  const instances = call('getInstances', 'world', 'fulfilled', [{ uid: 'u', name: 'world', players: { Ann_99: 'x' } }])
  const commands = [
    'say hello everyone',
    'whitelist add Ann_99',
    'whitelist add ann_99',
    'whitelist add Eve_77',
    'execute as Ann_99 run say it is 773177 now',
    'minecraft:gamemode CREATIVE @a',
    'say 150 165 156 164 145 162',
    'say aHVudGVyMnNlY3JldA==',
    'list',
    'claim area-51x',
  ].map((command) => ({ ...commandSubmitted(command), meta: { plainCommands: ['claim'] } }))
  const { log } = exported([instances, ...commands])
  expect(typedAs(log.actions.slice(1))).toEqual([
    'say •••',
    'whitelist add Ann_99',
    'whitelist add ann_99',
    'whitelist add •••',
    'execute as Ann_99 run say •••',
    'minecraft:gamemode creative @a',
    'say •••',
    'say •••',
    'list',
    'claim area-51x',
  ])
})

test.each([
  ['say thunder rain midnight store', 'say •••'],
  ['execute run say thunder rain midnight', 'execute run say •••'],
  ['/minecraft:kick Ann_99 thunder rain midnight', '/minecraft:kick Ann_99 •••'],
  ['title @a title Hun7er thunder midnight', 'title @a title •••'],
])('every word of the passphrase in %p is masked, even a word that is kept in other commands', (command, shown) => {
  const instances = call('getInstances', 'world', 'fulfilled', [{ uid: 'u', name: 'world', players: { Ann_99: 'x' } }])
  const actions = [instances, ...sent(command), linesReceived([{ type: 'message', content: `ann ${command}` }])]
  expect(typedAs(exported(actions).log.actions)[1]).toBe(shown)
  for (const more of [[], later]) expect(JSON.stringify(recorded([...actions, ...more], true))).not.toMatch(/midnight/)
})

test('the echo of a command is masked like the command, with and without console output', () => {
  const { log } = exported([...sent(`say ${SECRET}`), ...later])
  const { buffer } = log.base.console as { buffer: { blocks: { type: string; content: string }[][] } }
  expect(buffer.blocks).toEqual([[{ type: 'command', content: '> say •••' }]])
  for (const actions of [sent(`say ${SECRET}`), [...sent(`say ${SECRET}`), ...later]]) {
    expectNowhere(exported(actions).text)
    expectNowhere(JSON.stringify(recorded(actions, true)))
  }
})

test('the typed words of commands are masked in the activity log, and the rest of its entries is kept', () => {
  const entry = { at: 1, username: 'ann', kind: 'command', action: 'sent command', address: '::1', succeeded: true }
  const subjects = [
    `world-1: say ${SECRET}`,
    `world-1: ${SECRET} ••• (${SECRET.length} characters)`,
    'world-1: claim ••• (14 characters)',
    'world-1: whitelist add on',
    'world-1',
  ]
  const entries = subjects.map((subject, id) => ({ ...entry, id, subject }))
  const actions = [
    call('getActivity', {}, 'fulfilled', { entries, hasMore: false }),
    commandSubmitted(`say ${SECRET}`),
    filterTyped(SECRET),
  ]
  const { text, log } = exported(actions)
  expectNowhere(text)
  expectNowhere(exported([...actions, ...later]).text)
  const shown = (log.actions[0]!.payload as { entries: { subject: string }[] }).entries.map(({ subject }) => subject)
  expect(shown).toEqual([
    'world-1: say •••',
    'world-1: ••• (13 characters)',
    'world-1: claim ••• (14 characters)',
    'world-1: whitelist add on',
    'world-1',
  ])
})

test('arguments of an evicted call are masked where the state still contains them', () => {
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

test('arguments are masked in keys of the base state even if the recorder no longer remembers all typed texts', () => {
  const path = `/nfsshare/${SECRET}`
  const flood = Array.from({ length: 21 }, (_, at) => filterTyped(`${at}`.padEnd(100_000, 'y')))
  const key = `getFiles(${JSON.stringify(path)})`
  const actions = [
    call('toggleDeployment', { name: SECRET, enabled: true }, 'pending', undefined, {
      requestId: 'r2',
      fixedCacheKey: `toggle ${SECRET}`,
    }),
    call('downloadFile', { path, name: SECRET, type: '-' }, 'pending', undefined, {
      fixedCacheKey: `download ${path}`,
    }),
    call('createDatabase', { type: 'sql', name: SECRET }, 'pending', undefined, { requestId: 'r3' }),
    call('createDatabase', { type: 'sql', name: SECRET }, 'fulfilled', null, { requestId: 'r3' }),
    call('getFiles', path, 'pending'),
    {
      type: 'api/invalidation/updateProvidedBy',
      payload: [{ queryCacheKey: key, providedTags: [{ type: 'Files', id: path }] }],
    },
    { type: 'api/queries/removeQueryResult', payload: { queryCacheKey: key } },
  ]
  for (const first of [
    [...flood, ...actions],
    [...actions, ...flood],
  ])
    expectNowhere(exported([...first, ...later]).text)
})

test.each([SECRET, `${SECRET}/%é`, 'q7'])('the argument %p is masked in keys that contain it', (name) => {
  const path = `/nfsshare/${name}`
  const keyed = (endpoint: string, args: unknown, fixedCacheKey?: string) => [
    call(endpoint, args, 'pending', undefined, { requestId: endpoint, ...(fixedCacheKey && { fixedCacheKey }) }),
    call(endpoint, args, 'fulfilled', null, { requestId: endpoint, ...(fixedCacheKey && { fixedCacheKey }) }),
  ]
  const { log } = exported([
    ...keyed('downloadFile', { path, name, type: '-' }, `download ${path}`),
    ...keyed('toggleDeployment', { name, enabled: true }, `toggle ${name}`),
    ...keyed('restartDeployment', name, `restart ${name}`),
    ...keyed('createDatabase', { type: 'sql', name }),
    ...later,
  ])
  const { mutations } = log.base.api as { mutations: object }
  const { expanded } = log.base.databases as { expanded: string[] }
  const keys = [...Object.keys(mutations), ...expanded].map((key) => key.replaceAll(/•+\d*/g, '•'))
  expect(keys).toEqual([
    `download /nfsshare/${name.includes('/') ? '•/•' : '•'}`,
    'toggle •',
    'restart •',
    'createDatabase',
    'sql/•',
  ])
})

test('an activity log entry that repeats a refused call does not count as a response', () => {
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

test('a response that lists directories that could not be created does not count as a source of names', () => {
  const path = `/nfsshare/${SECRET}`
  expectNowhere(
    exported([
      call('createDirectories', [path], 'pending'),
      call('createDirectories', [path], 'fulfilled', { existing: [], failed: [{ path, message: 'no' }] }),
      filterTyped(SECRET),
    ]).text,
  )
})

test('two masked searches stay two queries, and their prefixes are not masked in messages', () => {
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

test('a state value is kept even if a search for the same word is masked', () => {
  const { log } = exported([call('getActivity', { search: 'dark' }, 'pending'), themeChosen('dark')])
  expect(log.actions[1]!.payload).toBe('dark')
})

test('every prefix of a secret that was typed key by key is masked where the console sends it without spaces', () => {
  const search = (text: string) => call('getActivity', { search: text.trim() }, 'pending')
  const typing = Array.from(` ${SECRET}`, (_letter, at) => ` ${SECRET}`.slice(0, at + 1)).flatMap((text) => [
    activityFiltered({ search: text }),
    search(text),
  ])
  const { log } = exported([files('hunting.txt'), ...typing])
  expect(JSON.stringify(log.actions.slice(1))).not.toMatch(/"h|hu/)
})

test('a suffix of a secret is masked', () => {
  const { log } = exported([files('secrets.txt'), filterTyped(SECRET), filterTyped('secret')])
  expect(typedAs(log.actions.slice(1))).toEqual(Array(2).fill(expect.stringMatching(/^•+\d*$/)))
})

test('the log of a user contains no actions of the previous user', () => {
  const session = (username: string) =>
    sessionStarted({ id: username, isAdmin: false, subject: username, expiresAt: 1, username })
  const { log } = exported([session('ann'), files('of-ann.txt'), sessionEnded('signedOut'), session('bob')])
  expect(log.actions.map(({ type }) => type)).toEqual(['session/started'])
  expect(JSON.stringify(log)).not.toContain('of-ann')
  expect(exported([session('ann'), sessionEnded('expired'), session('ann')]).log.actions).toHaveLength(3)
})

describe('only the exported part of a response counts as a source of names', () => {
  const password = call('login', { username: 'ann', password: SECRET }, 'pending')

  test('the first letters of a password are masked even if a response contains the password', () => {
    for (const more of [[], later.slice(0, 1990)]) {
      const { log } = exported([password, files(`${SECRET}.txt`), ...byKey(SECRET), ...more])
      expect(JSON.stringify([log.base.files, log.actions.slice(-SECRET.length)])).not.toMatch(/"h|hunt/)
    }
  })

  test('a directory name that is a part of a password is masked even if a response contains the password', () => {
    const split = 'hunter/2secret'
    const database = call('getDatabases', 'sql', 'fulfilled', [{ name: split, size: 1, tables: 1 }])
    const login = call('login', { username: 'ann', password: split }, 'pending')
    expectNowhere(exported([login, database, call('createFile', '/nfsshare/hunter/2', 'pending')]).text, 'hunter')
  })

  test('a typed text is masked even if a response contains it after a keyword such as password', () => {
    const deployments = [{ name: 'world', description: `The password is ${SECRET}` }]
    const actions = [call('getDeployments', undefined, 'fulfilled', deployments), ...byKey(SECRET)]
    expect(exported(actions).text).not.toMatch(/hunt/)
    expectNowhere(exported([...actions, ...later]).text)
  })

  test('a directory name that is a part of a password is masked even if a directory has that name', () => {
    const split = 'hunter/2secret'
    const login = call('login', { username: 'ann', password: split }, 'pending')
    for (const typed of [call('createFile', `/nfsshare/world/${split}`, 'pending'), routeChanged(`/files/${split}`)]) {
      const { log } = exported([login, files('hunter', 'world'), typed])
      expect(JSON.stringify(log.actions[2])).not.toContain('hunter')
    }
  })

  test('a typed text is kept in lower case if a response contains it in another case', () => {
    const { text, log } = exported([files('lobbyworld'), filterTyped('LobbyWorld'), filterTyped('lobbyworld')])
    expect(typedAs(log.actions.slice(1))).toEqual(['lobbyworld', 'lobbyworld'])
    expect(text).not.toContain('LobbyWorld')
  })

  test('the last part of a password that was typed as a path is masked in a failure that quotes it', () => {
    const split = 'Hun7erbrook/Q9'
    const message = `The server failed "${split}".`
    const { text } = exported([
      call('login', { username: 'ann', password: split }, 'pending'),
      call('getFiles', `/nfsshare/${split}`, 'pending'),
      call('restartDeployment', 'world', 'rejected', { status: 500, message }),
    ])
    expect(text).not.toMatch(/Q9/)
  })
})

test('the results of a masked search in the activity log are left out, because they contain the search text', () => {
  const entry = { id: 1, at: 1, username: 'ann', kind: 'files', action: 'moved', address: '::1', succeeded: true }
  const found = {
    pages: [{ entries: [{ ...entry, subject: '/nfsshare/chunks' }], hasMore: false }],
    pageParams: [null],
  }
  const actions = ['hun', SECRET].flatMap((search) => [
    activityFiltered({ search }),
    call('getActivity', { search }, 'pending'),
    call('getActivity', { search }, 'fulfilled', search === 'hun' ? found : { pages: [], pageParams: [] }),
  ])
  expect(exported(actions).text).not.toContain('chunks')
  expect(exported([...actions, ...later]).text).not.toContain('chunks')
  expect(exported(actions.slice(0, 3)).text).toContain('chunks')
})

test('the position of a search result in the output is left out, because it would reveal the search text', () => {
  const found = { occurrence: { line: 12, at: 34 }, position: { line: 5, offset: 6 } }
  const { log } = exported([searched('hun'), matchShown(found), searched(SECRET)])
  expect(log.actions[1]!.payload).toEqual({ occurrence: { line: 0, at: 0 }, position: { line: 0, offset: 0 } })
})

const signIn = call('login', { username: 'ann', password: SECRET }, 'pending')
test.each([
  ['cleared', [...byKey('hunt'), filterTyped('')]],
  ['deleted key by key', [...byKey('hunt'), filterTyped('hun'), filterTyped('hu'), filterTyped('h'), filterTyped('')]],
  ['replaced', [...byKey('hunt'), filterTyped('world')]],
  ['left', byKey('hunt')],
  ['left long ago', [...byKey('hunt'), ...later]],
])('the first letters of a password that were typed into a wrong field and %s are masked', (_how, typing) => {
  const { log } = exported([signIn, files('hunting.txt'), ...typing])
  expect(JSON.stringify([log.base.files, log.actions.filter(({ type }) => type === 'files/filterTyped')])).not.toMatch(
    /"h|hu/,
  )
})
test('a name with the same first letters as a password is kept, with every prefix that was typed before it', () => {
  const { log } = exported([signIn, files('hunting.txt'), ...byKey('hunting')])
  expect(typedAs(log.actions.slice(2))).toEqual(['h', 'hu', 'hun', 'hunt', 'hunti', 'huntin', 'hunting'])
})
test('deleting a name key by key does not reveal the first letter of a password', () => {
  const typing = [...byKey('hall'), filterTyped('hal'), filterTyped('ha'), filterTyped('h'), filterTyped('')]
  const { log } = exported([signIn, files('hall-of-fame.txt'), ...typing])
  expect(typedAs(log.actions.slice(2))).toEqual(typedAs(typing))
})
test('the first word of a known passphrase that was entered as a command is masked', () => {
  const passphrase = call('login', { username: 'ann', password: 'Correct horse battery' }, 'pending')
  const { log, text } = exported([
    passphrase,
    commandSubmitted('correct horse battery'),
    commandSubmitted('corrector x'),
  ])
  expect(typedAs(log.actions.slice(1))).toEqual(['••• (21 characters)', 'corrector ••• (11 characters)'])
  expect(text).not.toMatch(/correct(?!or)/)
})

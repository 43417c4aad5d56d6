/** @jest-environment node */
import { actionRules } from '../../../src/web/actionLog/redact/redaction'
import { typedPayloads } from '../../../src/web/actionLog/export/typedPlaces'
import { notified, sessionEnded, sessionStarted } from '../../../src/web/facts'
import { keyCreationStarted, keyEdited } from '../../../src/web/features/account/keys/keysSlice'
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
import { preferencesRecalled as overviewRecalled } from '../../../src/web/features/overview/overviewSlice'
import { preferencesRecalled as paletteRecalled } from '../../../src/web/app/palette/paletteSlice'
import { routeChanged } from '../../../src/web/app/routing/routeSlice'
import { type Action, byKey, call, expectNowhere, exported, files, later, SECRET } from '../../support/web/exportedLog'

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

test('a deployment that was deleted before is not named by what the browser stored of it', () => {
  const stored = [
    overviewRecalled({ view: null, filter: 'all', collapsed: ['world', SECRET] }),
    paletteRecalled({ recent: [`configuration:${SECRET}`, `directory:/nfsshare/${SECRET}`], singleKeys: true }),
    call('getDeployments', undefined, 'fulfilled', [{ name: 'world', type: 'process' }]),
  ]
  const { text, log } = exported(stored)
  expectNowhere(text)
  expect(log.final.overview).toMatchObject({ collapsed: ['world', expect.stringMatching(/^\u2022+$/)] })
  expectNowhere(exported([...stored, ...later]).text)
})

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

test('security 222: a prefix of a typed secret is not masked in the words of the console, which would reveal it', () => {
  // A search is sent whenever the user pauses.
  const searching = ['session', 'sessions7Xq9-X'].map((search) => call('getActivity', { search }, 'pending'))
  const typing = [...byKey('sessions7Xq9-X'), ...byKey('undef7Xq9'), filterTyped(''), ...searching]
  const shown = [
    call('getAccount', undefined, 'fulfilled', { role: 'admin' }),
    notified('success', 'Ended all other sessions'),
  ]
  for (const actions of [
    [...typing, ...shown],
    [...typing, ...shown, ...later],
    [...typing, ...later, ...shown],
  ]) {
    const { text } = exported(actions)
    expect(text).toContain('Ended all other sessions')
    expect(text).toContain('getAccount(undefined)')
  }
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

test('a date that was typed is masked, because its digits may be those of a code', () => {
  const date = '73177-12-03'
  const actions = [keyCreationStarted(), keyEdited({ expiry: 'date' }), keyEdited({ date })]
  expectNowhere(exported(actions).text, date)
  expectNowhere(exported([...actions, ...later]).text, date)
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

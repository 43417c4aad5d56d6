/** @jest-environment node */
import { createRecorder } from '../../../src/web/actionLog/record/recorder'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { dialogOpened, inviteMessageTyped } from '../../../src/web/features/admin/adminSlice'
import { draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import { searched } from '../../../src/web/features/overview/overviewSlice'
import { commandSubmitted, linesReceived } from '../../../src/web/sockets/consoleSlice'
import { byKey, call, expectNowhere, exported, files, later, SECRET } from '../../support/web/exportedLog'

type Action = { type: string; payload?: unknown }

const content = `name: world\ntype: process\ndescription: of ${SECRET}\n`
const deployment = { name: 'world', type: 'process', enabled: true, description: `of ${SECRET}` }
const instance = { uid: 'u1', name: 'world-0', deployment: 'world', description: `of ${SECRET}` }

test.each<[string, Action[]]>([
  [
    'the message of an invite code',
    [
      dialogOpened({ kind: 'createInvite', message: '' }),
      inviteMessageTyped(`for bob ${SECRET}`),
      call('createInviteCode', { message: `for bob ${SECRET}` }, 'pending'),
      call('getInviteCodes', undefined, 'fulfilled', [{ message: `for bob ${SECRET}` }]),
    ],
  ],
  [
    'the message of an invite code in the activity log',
    [
      inviteMessageTyped(`for bob ${SECRET}`),
      call('getActivity', {}, 'fulfilled', {
        pages: [
          { entries: [{ id: 1, kind: 'invite', action: 'created', subject: `for bob ${SECRET}`, succeeded: true }] },
        ],
      }),
    ],
  ],
  ['the description of a deployment', [call('getDeployments', undefined, 'fulfilled', [deployment])]],
  ['the description of an instance', [call('getInstances', 'world', 'fulfilled', [instance])]],
  [
    'a description in the overview',
    [call('getOverview', undefined, 'fulfilled', { sections: [{ deployment, instances: [instance] }] })],
  ],
  [
    'a description in a configuration',
    [
      draftTyped({ name: 'world', text: content }),
      call('saveDeploymentConfig', { name: 'world', content }, 'pending'),
      call('getDeploymentConfig', 'world', 'fulfilled', { content, revision: 'r' }),
    ],
  ],
  [
    'a description in a changed response',
    [
      call('getDeployments', undefined, 'fulfilled', [{ ...deployment, description: '' }]),
      {
        type: 'api/queries/queryResultPatched',
        payload: {
          queryCacheKey: 'getDeployments(undefined)',
          patches: [{ op: 'replace', path: [0], value: deployment }],
        },
      },
    ],
  ],
])('a free text that a user wrote is masked, also where a response repeats it: %s', (_what, actions) => {
  const typing = [filterTyped(SECRET), searched(SECRET)]
  expectNowhere(exported([...actions, ...typing]).text)
  expectNowhere(exported([...actions, ...typing, ...later]).text)
})

test('a description that equals a name of a response is kept', () => {
  const { log } = exported([
    files('survival'),
    call('getDeployments', undefined, 'fulfilled', [{ name: 'world', description: 'survival' }]),
  ])
  expect(log.actions[1]!.payload).toEqual([{ name: 'world', description: 'survival' }])
})

test.each([
  ['its first letter', `"${SECRET[0]}" is not allowed.`],
  ['its first letters', `"${SECRET.slice(0, 7)}…" is too long.`],
  ['its letters and digits in a path', `There is no /nfsshare/${SECRET.slice(4)}.`],
])('a failure of a call with a masked argument quotes nothing: %s', (_what, message) => {
  const path = `/nfsshare/${SECRET}`
  const failed = { status: 409, code: 'CONFLICT', message, field: message, failed: [{ path, message }] }
  const actions = [call('createFile', path, 'pending'), call('createFile', path, 'rejected', failed)]
  const { text, log } = exported(actions)
  expect(log.actions[1]!.payload).toMatchObject({ message: message.replace(/".*"|\/.*/, '•••') })
  for (const part of [/"hunter2/, /\\"h\\"/, /er2secret/]) {
    expect(text).not.toMatch(part)
    expect(exported([...actions, ...later]).text).not.toMatch(part)
  }
})

test.each(["'", '`', '“”', '„“', '«»', '‘’'])('a text in %s is a quotation, too', (marks) => {
  const [opening = '', closing = opening] = marks
  const path = `/nfsshare/${SECRET}`
  const shortened = opening + SECRET.slice(0, 7) + closing
  const message = `The server’s users' rule: ${shortened} isn't allowed.`
  const rejected = call('createFile', path, 'rejected', { status: 409, message })
  const { log } = exported([call('createFile', path, 'pending'), rejected])
  expect(log.actions[1]!.payload).toMatchObject({ message: "The server’s users' rule: ••• isn't allowed." })
})

const notification = (message: string, type = 'danger') => ({
  type: 'notifications/notified',
  payload: { id: '1', type, message },
})
test.each([
  ['a shortened path', `"/nfsshare/${'a'.repeat(100)}/${SECRET.slice(0, 8)}…" is more than 128 directories deep.`],
  ['its first letters', `"${SECRET.slice(0, 8)}…" is too long.`],
])('a notification with the words of a failed call quotes nothing either: %s', (_what, message) => {
  const args = [{ path: `/nfsshare/${'a'.repeat(100)}/${SECRET}`, name: SECRET, type: 'd' }]
  const actions = [
    call('archiveFiles', args, 'pending'),
    call('archiveFiles', args, 'rejected', { status: 409, code: 'CANCELLED', message }),
    notification(message, 'info'),
  ]
  expectNowhere(exported(actions).text, SECRET.slice(0, 8))
  // The call is evicted before its notification.
  for (const evicted of [1998, 1999, 2000])
    expectNowhere(exported([...actions, ...later.slice(0, evicted)]).text, SECRET.slice(0, 8))
})

test.each<[string, Action[]]>([
  [
    'There is no "survival".',
    [call('cancelFileJob', 'j1', 'rejected', { status: 404, message: 'There is no "survival".' })],
  ],
  ['Created /nfsshare/survival.zip', []],
])(
  'a notification keeps what a failure without masked arguments, or the console itself, quotes: %s',
  (message, before) => {
    const actions = [
      files('survival.zip', 'j1'),
      ...before,
      notification(message, before.length > 0 ? 'danger' : 'success'),
    ]
    expect(exported(actions).log.actions.at(-1)!.payload).toMatchObject({ message })
  },
)

const outputOf = (actions: Action[], ...lines: string[]) => {
  const recorder = createRecorder(replayReducer({}, { type: 'begun' }), 1000, replayReducer)
  const printed = linesReceived(lines.map((line) => ({ type: 'message' as const, content: line })))
  for (const action of [...actions, printed]) recorder.note(1000, action)
  return recorder.recording(true).actions.at(-1)!.payload
}

test.each<[string, Action[]]>([
  ['a filter', byKey(SECRET)],
  ['a filter that was cleared', [...byKey(SECRET), filterTyped('')]],
  ['a filter before another one', [...byKey(SECRET), ...byKey('notes')]],
  ['a message of an invite code', [inviteMessageTyped(`for bob ${SECRET}`)]],
  ['a name of a database', [call('createDatabase', { type: 'sql', name: SECRET }, 'pending')]],
  ['an argument that was refused', [call('createFile', `/nfsshare/${SECRET}`, 'rejected', { status: 409 })]],
  ['a description', [draftTyped({ name: 'world', text: content })]],
])('what looks like a secret in a text that is masked where it was typed is hidden in the output: %s', (_what, typed) =>
  expect(outputOf([files('notes.txt'), ...typed], `it is ${SECRET}`, `it is ${SECRET.toUpperCase()}`)).toEqual([
    'mit is •••',
    'mit is •••',
  ]),
)

const base64 = (text: string) => Buffer.from(`x:${text}`).toString('base64')
test.each<[string, string, (text: string) => Action]>([
  ['in another script', 'парол7Щит9', filterTyped],
  ['with separators', 'p@ss:w/rd#1?x=2', (text) => inviteMessageTyped(`for bob ${text}`)],
  ['with a slash, as a name of a file', 'p@ssw/rd#1?x=2', (text) => call('createFile', `/nfsshare/${text}`, 'pending')],
  ['with a tab', 'Ab1\tCd2ef', (text) => call('createFile', `/nfsshare/${text}`, 'pending')],
  ['with separators, in a harmless command', 'tom&jerry=4ever', (text) => commandSubmitted(`give ann ${text}`)],
  ['in quotes, in a harmless command', '`tick`7Zsq', (text) => commandSubmitted(`give ann ${text}`)],
])('a text that looks like a secret is hidden in the output in Base64 and in part: %s', (_what, secret, typed) => {
  const part = secret.slice(1, 9)
  expect(outputOf([typed(secret)], `it is ${secret}`, `it is ${base64(secret)}.`, `it is ${part}`)).toEqual([
    expect.stringMatching(/^mit is `?•••$/),
    expect.stringMatching(/^mit is [\w+/]{0,4}•••={0,2}\.$/),
    expect.stringMatching(/^mit is `?•••$/),
  ])
})

test.each<[string, Action]>([
  ['1234-5678-9012', filterTyped('1234-5678-9012')],
  ['847 291', filterTyped('847 291')],
  ['8472-9163', commandSubmitted('scoreboard objectives add 8472-9163 dummy')],
])('a number in groups that was typed into a wrong field is hidden in the output: %s', (number, typed) =>
  expect(outputOf([typed], `it is ${number}`, `it is ${number.replace(/\D/g, '')}`)).toEqual([
    'mit is •••',
    'mit is •••',
  ]),
)

test.each(['2026-11-27', '12:00:01', '10.0.0.7', '1.21.4'])('a search for %s does not hide it in the output', (text) =>
  expect(outputOf([filterTyped(text)], `it is ${text}`)).toEqual([`mit is ${text}`]),
)

test('the value of an option with blanks in a definition is hidden in the output', () => {
  const text = 'name: world\nrun:\n  javaArgs: ["-Dmotto=kod 47-11 Zx9", "-Dother=the end of"]\n'
  expect(outputOf([draftTyped({ name: 'world', text })], 'it is kod 47-11 Zx9 or the end of it')).toEqual([
    'mit is ••• or ••• it',
  ])
})

test.each<[string, Action[]]>([
  [
    'an argument that was refused',
    [
      call('createDatabase', { type: 'sql', name: 'Winter2026geheim' }, 'pending'),
      call('createDatabase', { type: 'sql', name: 'Winter2026geheim' }, 'rejected', {
        status: 409,
        message: 'The database Winter2026geheim exists already',
      }),
      {
        type: 'notifications/notified',
        payload: { id: '1', type: 'danger', message: 'Failed to create SQL database Winter2026geheim' },
      },
    ],
  ],
  [
    'a file that was created',
    [
      call('createFile', '/nfsshare/Winter2026geheim', 'fulfilled', null),
      files('Winter2026geheim'),
      { type: 'notifications/notified', payload: { id: '1', type: 'success', message: 'Created Winter2026geheim' } },
    ],
  ],
  ['a text that was typed key by key', [...byKey('Winter2026geheim'), files('Winter2026geheim')]],
])('a typed text that a known secret begins is hidden as a whole: %s', (_what, actions) => {
  const all = [call('login', { username: 'ann', password: 'Winter' }, 'pending'), ...actions]
  expectNowhere(exported(all).text, '2026geheim')
  expectNowhere(exported([...all, ...later]).text, '2026geheim')
  expect(outputOf(all, 'it is Winter2026geheim')).toEqual(['mit is •••'])
})

test('names of responses and ordinary words that were typed stay in the output', () =>
  expect(
    outputOf([files('world2-lobby.txt'), ...byKey('world2-lobby'), ...byKey('joined')], 'ann joined world2-lobby'),
  ).toEqual(['mann joined world2-lobby']))

test.each([' abcde', 'abcde ', ' abcde '])('a response to a prompt is masked with blanks around it: "%s"', (command) =>
  expectNowhere(exported([commandSubmitted(command)]).text, 'abcde'),
)

test('a password that is typed into an element that was the field of a name before is nowhere', () => {
  const recorder = createRecorder(replayReducer({}, { type: 'begun' }), 1000, replayReducer)
  const field = {}
  recorder.fieldTyped(field, 'ann', false)
  recorder.fieldTyped(field, SECRET, true)
  recorder.note(1000, files(SECRET))
  expectNowhere(JSON.stringify(recorder.recording()))
})

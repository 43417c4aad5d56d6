import { createHash } from 'node:crypto'
import { act, screen, waitFor } from '@testing-library/react'
import { replayLog } from '../../../src/web/actionLog/replay/checkLog'
import { readLog } from '../../../src/web/actionLog/replay/readLog'
import { recorderOf } from '../../../src/web/actionLog/record/record'
import { createRecorder } from '../../../src/web/actionLog/record/recorder'
import { replayReducer } from '../../../src/web/actionLog/replay/replayReducer'
import { complete, takeStep } from '../../../src/web/actionLog/replay/steps'
import { writeLog } from '../../../src/web/actionLog/export/writeLog'
import { draftRestored, draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import { commandsLoaded, searched } from '../../../src/web/features/instance/instanceSlice'
import { sectionToggled } from '../../../src/web/features/overview/overviewSlice'
import { commandSubmitted, linesReceived } from '../../../src/web/sockets/consoleSlice'
import { network } from '../../support/web/network'
import { renderApp } from '../../support/web/renderApp'
import { savedLogs } from '../../support/web/savedLogs'
import { createTape } from '../../../src/web/actionLog/record/tape'

/** Typed as a password, and elsewhere. */
const P = 'hunter2secret'
const about = { build: 'test', exportedAt: 0, viewport: { width: 1440, height: 900 }, route: '/' }

type Action = { type: string }
type Phase = 'pending' | 'fulfilled' | 'rejected'

const call = (
  endpointName: string,
  originalArgs: unknown,
  phase: Phase,
  payload?: unknown,
  arg: object = {},
): Action & Record<string, unknown> => ({
  type: `api/executeMutation/${phase}`,
  ...(payload !== undefined && { payload }),
  meta: {
    requestId: 'r1',
    requestStatus: phase,
    startedTimeStamp: 1,
    arg: { type: 'mutation', endpointName, originalArgs, track: true, ...arg },
  },
})
const query = (endpointName: string, originalArgs: unknown, payload: unknown) => {
  const { meta } = call(endpointName, originalArgs, 'fulfilled') as unknown as { meta: { arg: object } }
  const key = `${endpointName}(${JSON.stringify(originalArgs)})`
  return {
    type: 'api/executeQuery/fulfilled',
    payload,
    meta: { ...meta, fulfilledTimeStamp: 2, arg: { ...meta.arg, type: 'query', subscribe: true, queryCacheKey: key } },
  }
}
const password = (typed: string) => call('login', { username: 'ann', password: typed }, 'pending')
const code = (typed: string) => call('verifyLogin', { code: typed }, 'pending')
const byKey = (text: string) => Array.from(text, (_letter, at) => filterTyped(text.slice(0, at + 1)))
const lines = (...contents: string[]) => linesReceived(contents.map((content) => ({ type: 'message', content })))
const old = () => Array.from({ length: 2100 }, () => sectionToggled('world'))
const definitionWith = (value: string) => `name: world\nrun:\n  env:\n    PASSWORD: ${value}\n`

function exported(actions: Action[], withOutput: boolean) {
  const recorder = createRecorder(replayReducer({}, { type: 'begun' }), 1000, replayReducer)
  actions.forEach((action, index) => recorder.note(1000 + index * 10, action))
  const text = JSON.stringify(writeLog(recorder.recording(withOutput), about, replayReducer))
  const log = readLog(text)
  expect(replayLog(log, replayReducer)).toMatchObject({ deviations: [], final: [] })
  return { text, log }
}
const expectHidden = (actions: Action[], leak: RegExp, outputOnly = false) => {
  for (const withOutput of outputOnly ? [true] : [false, true]) {
    const { text } = exported(actions, withOutput)
    expect(leak.exec(text) && text.slice(Math.max(0, text.search(leak) - 40), text.search(leak) + 60)).toBeNull()
  }
}

test('the file says its route without what was typed as a secret', async () => {
  const saved = savedLogs()
  network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  const { store, user } = renderApp(`/files/${P}`, { signedInAs: 'ann' })
  recorderOf(store)
  act(() => void store.dispatch(commandSubmitted(`setkey ${P}`)))
  await user.keyboard('{Control>}{Shift>}[KeyL]{/Shift}{/Control}')
  await waitFor(() => expect(saved).toHaveLength(1))
  const { log } = saved[0]!
  expect(log.final.route).toMatch(/^\/files\/•+$/)
  expect(log.route).toBe(log.final.route)
})

test('the key by which a download is found has no secret', () =>
  expectHidden(
    [
      password(P),
      call('downloadFile', { path: `/nfsshare/${P}`, name: P, type: 'f' }, 'pending', undefined, {
        fixedCacheKey: `download /nfsshare/${P}`,
      }),
    ],
    /hunter2secret/,
  ))

test.each<[string, Action[], RegExp]>([
  ['a code, key by key', [code('773177'), ...byKey('773177')], /"773(?:1|17)"/],
  ['a password of 8, key by key', [password('hunter2x'), ...byKey('hunter2x')], /"hunt[er]*"/],
  ['a password of 13, key by key', [password(P), ...byKey(P)], /"hunter"/],
  [
    'a slip of the finger near the end',
    [password(P), ...byKey('hunter2secreX'), filterTyped('hunter2secre')],
    /hunter2secreX/,
  ],
  ['a letter missing within', [password(P), filterTyped('huter2secret')], /huter2secret/],
  ['its beginning deleted', [password(P), filterTyped('unter2secret')], /unter2secret/],
  ['its end first', [password(P), filterTyped('2secret')], /"2secret"/],
])('of a secret that is typed elsewhere is hidden: %s', (_what, actions, leak) => expectHidden(actions, leak))

test.each<[string, Action[]]>([
  ['fetched', [query('getDeploymentConfig', 'world', { content: definitionWith(P), revision: 'x' })]],
  ['restored from a draft', [draftRestored({ name: 'world', text: definitionWith(P) })]],
  [
    'saved, and taken out again',
    [
      draftTyped({ name: 'world', text: definitionWith(P) }),
      call('saveDeploymentConfig', { name: 'world', content: definitionWith(P) }, 'pending'),
      draftTyped({ name: 'world', text: 'name: world' }),
    ],
  ],
])('a password of a definition that was %s is hidden where it was typed elsewhere', (_what, actions) =>
  expectHidden([...actions, filterTyped(P)], /hunter2secret/),
)

test.each([
  `mysql -u root -p${P}`,
  `setup --password=${P}`,
  `setkey key=${P}`,
  `connect mysql://root:${P}@db/x`,
  `addkey ann:${P}`,
])('the secret within a word of %p is hidden elsewhere, and in the output', (command) => {
  expectHidden([commandSubmitted(command), filterTyped(P)], /hunter2secret/)
  expectHidden([commandSubmitted(command), lines(`I got ${P}`)], /hunter2secret/, true)
})
test('secrets of commands of an earlier visit are hidden as those of this one are', () =>
  expectHidden([commandsLoaded([`setkey ${P}`]), filterTyped(P)], /hunter2secret/))

test.each<[string, Action, string]>([
  ['in capital letters', password(P), P.toUpperCase()],
  ['as NFD', password('Cänary7731'.normalize('NFC')), 'Cänary7731'.normalize('NFD')],
  ['full-width', password(P), 'ｈｕｎｔｅｒ２ｓｅｃｒｅｔ'],
  ['with a character within that is not seen', password(P), 'hunter\u200b2secret'],
  ['without the blank that was pasted before it', password(` ${P}`), P],
  ['as a code in two groups', code('773177'), '773 177'],
  ['as the code without its blank', code('773 177'), '773177'],
])('a secret is hidden where it was typed %s', (_how, typed, elsewhere) =>
  expectHidden([typed, filterTyped(elsewhere)], new RegExp(elsewhere)),
)

test.each<[string, string, string]>([
  ['in part, as addresses do', 'a&b=c ä+d@e7731', encodeURI('a&b=c ä+d@e7731')],
  ['with small letters', 'Cänary7731', 'C%c3%a4nary7731'],
  ['twice', 'Cä nary7731', encodeURIComponent(encodeURIComponent('Cä nary7731'))],
  ['as JSON in ASCII', 'Cänary7731', 'C\\u00e4nary7731'],
  ['as JSON within JSON', 'ab"cd\\ef7731', JSON.stringify(JSON.stringify('ab"cd\\ef7731'))],
  ['as hexadecimal', P, Buffer.from(P).toString('hex')],
])('a secret is hidden where it is encoded %s', (_how, secret, form) =>
  expectHidden([password(secret), searched(form)], secret === P ? /68756e746572/ : /7731/),
)

test.each<[string, string]>([
  ['an OSC', 'hunter2\u001b]8;;x\u0007secret'],
  ['a colour with colons', 'hunter2\u001b[38:5:1msecret'],
  ['C1', 'hunter2\u009b31msecret'],
  ['a character set', 'hunter2\u001b(Bsecret'],
  ["a colour of Minecraft's", 'hunter2§csecret'],
  ['a carriage return', 'hunter2\rsecret'],
  ['a backspace', 'hunter2\b\bsecret'],
])('a secret that is broken by %s is hidden', (_what, line) =>
  expectHidden([password(P), lines(line)], /secret"/, true),
)
test('a value of a definition with colours within is hidden', () =>
  expectHidden(
    [
      draftTyped({ name: 'world', text: 'name: world\nrun: { env: { KEY: draft-canary-1 } }' }),
      lines('draft-\u001b[31mcanary-1'),
    ],
    /canary-1/,
    true,
  ))
test('a value that was hidden by the word before it, in colours, is hidden without them', () =>
  expectHidden([lines(`password: \u001b[33m${P}\u001b[0m`), lines(`it is ${P}`)], /hunter2secret/, true))

test.each(['"ab,cd;ef(gh)ij"', '"a b c d e f g"'])(
  'the password %s of a definition is hidden, though each part of it is short',
  (value) => {
    const plain = value.slice(1, -1)
    const leak = new RegExp(plain.replaceAll(/[()]/g, '\\$&'))
    expectHidden([draftTyped({ name: 'world', text: definitionWith(value) }), filterTyped(plain)], leak)
    expectHidden([draftTyped({ name: 'world', text: definitionWith(value) }), lines(`it is ${plain}`)], leak, true)
    expectHidden(
      [
        call('saveDeploymentConfig', { name: 'world', content: definitionWith(value) }, 'rejected', {
          status: 400,
          message: `odd: ${plain}`,
        }),
      ],
      leak,
    )
  },
)

test('the ETag of a listing does not tell which name was hidden in it', () => {
  const files = (name: string) =>
    `{"success":true,"data":{"files":[{"path":"/nfsshare/${name}","name":"${name}"}],"deploymentTypeIndex":null}}`
  const version = (name: string) => `"${createHash('sha1').update(files(name)).digest('base64url')}"`
  const { log } = exported(
    [
      code('773177'),
      query('getFiles', '/nfsshare', {
        files: [{ path: '/nfsshare/773177', name: '773177' }],
        deploymentTypeIndex: null,
        version: version('773177'),
      }),
    ],
    false,
  )
  const told = (log.actions.find(({ type }) => type === 'api/executeQuery/fulfilled')!.payload as { version?: string })
    .version
  const guessed = Array.from({ length: 5000 }, (_, index) => String(770_000 + index)).find(
    (guess) => version(guess) === told,
  )
  expect(guessed).toBeUndefined()
})

test.each(['content', 'buffer', 'blocks', 'position', 'commands', 'session', 'deployment'])(
  'with the password %p the state keeps its parts, and no reducer throws',
  (word) => {
    const { log } = exported(
      [password(word), lines('one'), commandSubmitted('say hi'), ...old(), lines('two'), commandSubmitted('say ho')],
      true,
    )
    let state = complete(replayReducer, log.base)
    const thrown = log.actions.flatMap((action) => {
      const step = takeStep(replayReducer, state, action)
      state = step.state
      return step.thrown ?? []
    })
    expect(thrown).toEqual([])
    // That a known word is missing would tell the password.
    expect(JSON.stringify(log.base)).not.toContain('•••')
  },
)

test('a failure that quotes a password which begins with the user name quotes nothing of it', () =>
  expectHidden(
    [call('login', { username: 'hunter', password: P }, 'rejected', { status: 400, message: `odd: ${P}` })],
    /2secret/,
  ))
test('what was typed for the user name, and refused, is hidden elsewhere', () =>
  expectHidden(
    [
      call('login', { username: P, password: 'another-word' }, 'rejected', { status: 401, message: 'no' }),
      filterTyped(P),
    ],
    /hunter2secret/,
  ))

test('of a secret that overlaps itself nothing is left', () =>
  expectHidden([password('xyxyxyxy'), filterTyped('xyxyxyxyxy')], /•xy/))

test.each([`execute as ann run setkey ${P}`, `execute run login ${P}`])(
  '%p runs another command, and is masked like it',
  (command) => expectHidden([commandSubmitted(command)], /hunter2secret/),
)

test('what looks like a secret where it was typed into a filter is masked as in a line of output', () =>
  expectHidden([filterTyped(`password=${P}`)], /hunter2secret/))

test('a sign-in after thousands of actions before it is in the log, and its password is known', () => {
  const tape = createTape(() => 1000)
  const pass = tape.middleware({ dispatch: () => undefined as never, getState: () => undefined })((action) => action)
  const actions = [
    ...old(),
    filterTyped(P),
    password(P),
    { type: 'session/started', payload: { name: 'ann', isAdmin: false } },
  ]
  actions.forEach(pass)
  const handed: Action[] = []
  tape.handTo((_at, action) => handed.push(action), { action: (action) => action, state: () => undefined })
  expect(handed.at(-1)).toEqual(actions.at(-1))
  expectHidden([...handed, filterTyped(P)], /hunter2secret/)
})

test('more secrets than can be remembered leave no texts in the log, and it is replayable', () => {
  const many = Array.from({ length: 150 }, (_, index) =>
    commandSubmitted(`setkey ${`${index}-`.repeat(3000).slice(0, 10_000)}x${index}`),
  )
  expectHidden(
    [...many, commandSubmitted(`setkey ${P}`), filterTyped(P), commandSubmitted(`say ${P}`)],
    /hunter2secret/,
  )
})

test('of a long secret no part is left', () => {
  const long = (words: number) =>
    Array.from({ length: words }, (_, index) =>
      createHash('sha256').update(String(index)).digest('hex').slice(0, 10),
    ).join('-')
  const token = long(120)
  expectHidden([commandSubmitted(`setkey ${token}`), filterTyped(`x ${token}`)], new RegExp(token.slice(500, 530)))
  expectHidden(
    [commandSubmitted(`setkey ${token}`), lines(`got ${token.slice(400, 600)}`)],
    new RegExp(token.slice(490, 510)),
    true,
  )
  const longest = long(1500)
  expectHidden(
    [commandSubmitted(`setkey ${longest}`), filterTyped(`x ${longest}`)],
    new RegExp(longest.slice(12_000, 12_030)),
  )
})

test.each(['hunt', 'er2s', 'cre', 'ecret'])('a secret that is pasted in pieces is hidden: %s', (piece) =>
  expectHidden([password(P), filterTyped(piece)], new RegExp(`"${piece}"`)),
)

test.each<[string, Action]>([
  [
    'the message of a failure',
    call('restartDeployment', 'world', 'rejected', {
      status: 500,
      message: `cannot connect to postgres://root:${P}@db/game`,
    }),
  ],
  [
    'the reason of a failure of one file',
    call('deleteFiles', [{ path: '/nfsshare/a' }], 'rejected', {
      status: 500,
      failed: [{ path: '/nfsshare/a', message: `token=${P}` }],
    }),
  ],
  [
    'why an instance ended',
    query('getInstances', 'world', [{ uid: 'u', name: 'world', lastExit: { reason: `--password ${P} is no option` } }]),
  ],
  [
    'what an instance waits for',
    query('getInstances', 'world', [{ uid: 'u', name: 'world', lateStart: { waitingFor: `password=${P}` } }]),
  ],
  [
    'a warning',
    query('getDeploymentConfig', 'world', { content: 'name: world', warnings: [`run.args: password ${P}`] }),
  ],
  ['a description', query('getDeployments', undefined, [{ name: 'world', description: `the password is ${P}` }])],
  [
    'a description in a definition',
    draftTyped({ name: 'world', text: `name: world\ndescription: the password is ${P}\n` }),
  ],
  [
    'a notification',
    { type: 'notifications/notified', payload: { id: '1', type: 'danger', message: `password: ${P}` } } as Action,
  ],
  ['an invite', { type: 'admin/inviteMessageTyped', payload: `password: ${P}` } as Action],
])('what looks like a secret in a text of the server is hidden: %s', (_where, action) =>
  expectHidden([action], /hunter2/),
)
test('what looks like a secret in the message of a failure is hidden in the output, too', () =>
  expectHidden(
    [
      call('restartDeployment', 'world', 'rejected', { status: 500, message: `postgres://root:${P}@db/game` }),
      lines(`I am ${P}`),
    ],
    /hunter2secret/,
    true,
  ))

test('the console’s own sentences stay, and so does the name of what a command sets', () => {
  const { text } = exported(
    [
      commandSubmitted(`set password=${P}`),
      {
        type: 'notifications/notified',
        payload: { id: '1', type: 'success', message: 'Successfully reset the password of bob' },
      } as Action,
    ],
    false,
  )
  expect(text).toContain('"Successfully reset the password of bob"')
  expect(text).not.toContain(P)
})

test('ids stay, whatever they look like: what was shown goes again in a replay', () => {
  const id = 'T304EhSBaMxSfaD7O98bR'
  const { log } = exported(
    [
      { type: 'notifications/notified', payload: { id, type: 'success', message: 'Done' } } as Action,
      { type: 'notifications/dismissed', payload: id } as Action,
    ],
    false,
  )
  expect(log.final.notifications).toEqual([])
})

test('names of files stay, whatever they look like: pages find what they show by them', () => {
  const name = 'password list.txt'
  const { log } = exported(
    [
      query('getFiles', `/nfsshare/${name}`, {
        files: [{ path: `/nfsshare/${name}/log in`, name: 'log in', type: 'd' }],
        deploymentTypeIndex: null,
      }),
    ],
    false,
  )
  const action = log.actions[0] as { payload: { files: object[] }; meta: { arg: object } }
  expect(action.meta.arg).toMatchObject({
    originalArgs: `/nfsshare/${name}`,
    queryCacheKey: `getFiles("/nfsshare/${name}")`,
  })
  expect(action.payload.files).toEqual([{ path: `/nfsshare/${name}/log in`, name: 'log in', type: 'd' }])
})

test.each([
  ['a time', ['[12:00:01 INFO]: hunter', '[12:00:01 INFO]: 2secret!']],
  ['a date', ['2026-11-22T12:00:01.123Z hunt', '2026-11-22T12:00:01.124Z er2s', '2026-11-22T12:00:01.125Z ecret']],
  ['a level and a name', ['INFO [main] hunt', 'INFO [main] er2secret']],
  ['the same that nobody knows', ['<<lobby#1>> say=hunter', '<<lobby#2>> say=2secret']],
  ['a sign', ['> hunter', '> 2secret']],
  ['a coloured time', ['\u001b[32m12:00:01\u001b[0m hunter', '\u001b[32m12:00:02\u001b[0m 2secret']],
])('a secret over lines that each begin with %s is hidden', (_what, said) =>
  expectHidden([password(P), lines(...said)], /hunt|2sec|ecret/, true),
)

test.each([
  ['reversed', [...P].reverse().join('')],
  ['as hexadecimal digits with colons', [...Buffer.from(P)].map((byte) => byte.toString(16)).join(':')],
  ['as the numbers of its bytes', `[${[...Buffer.from(P)].join(', ')}]`],
])('a secret is hidden where it is printed %s', (_how, form) =>
  expectHidden(
    [password(P), lines(`it is ${form}`), searched(form)],
    new RegExp(form.slice(4, -4).replaceAll(' ', ' ?')),
    true,
  ),
)

test('a password that the page refused to send is known', async () => {
  const saved = savedLogs()
  network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  const { store, user } = renderApp('/files', { signedInAs: 'ann' })
  recorderOf(store)
  await user.click(screen.getByRole('button', { name: 'Your account' }))
  await user.click(screen.getByRole('menuitem', { name: 'Change password' }))
  await user.type(await screen.findByLabelText('New password'), P)
  await user.clear(screen.getByLabelText('New password'))
  await user.type(screen.getByLabelText('New password'), 'other-word-1')
  await user.keyboard('{Escape}')
  act(() => void [store.dispatch(commandSubmitted(`say ${P}`)), store.dispatch(commandSubmitted('say other-word-1'))])
  await user.keyboard('{Control>}{Shift>}[KeyL]{/Shift}{/Control}')
  await waitFor(() => expect(saved).toHaveLength(1))
  expect(JSON.stringify(saved[0]!.log)).not.toMatch(/hunter2secret|other-word/)
})

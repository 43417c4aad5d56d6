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

/** A password that is also typed into other fields. */
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

test('a secret in the exported route is masked', async () => {
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

test('the cache key of a download contains no secret', () =>
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
  ['a code typed key by key', [code('773177'), ...byKey('773177')], /"773(?:1|17)"/],
  ['a password of 8 characters typed key by key', [password('hunter2x'), ...byKey('hunter2x')], /"hunt[er]*"/],
  ['a password of 13 characters typed key by key', [password(P), ...byKey(P)], /"hunter"/],
  ['a typo near the end', [password(P), ...byKey('hunter2secreX'), filterTyped('hunter2secre')], /hunter2secreX/],
  ['a missing letter', [password(P), filterTyped('huter2secret')], /huter2secret/],
  ['a deleted prefix', [password(P), filterTyped('unter2secret')], /unter2secret/],
  ['its suffix', [password(P), filterTyped('2secret')], /"2secret"/],
])('a secret typed into another field is masked: %s', (_what, actions, leak) => expectHidden(actions, leak))

test.each<[string, Action[]]>([
  ['fetched', [query('getDeploymentConfig', 'world', { content: definitionWith(P), revision: 'x' })]],
  ['restored from a draft', [draftRestored({ name: 'world', text: definitionWith(P) })]],
  [
    'saved and removed again',
    [
      draftTyped({ name: 'world', text: definitionWith(P) }),
      call('saveDeploymentConfig', { name: 'world', content: definitionWith(P) }, 'pending'),
      draftTyped({ name: 'world', text: 'name: world' }),
    ],
  ],
])('a password of a definition that was %s is masked in other fields', (_what, actions) =>
  expectHidden([...actions, filterTyped(P)], /hunter2secret/),
)

test.each([
  `mysql -u root -p${P}`,
  `setup --password=${P}`,
  `setkey key=${P}`,
  `connect mysql://root:${P}@db/x`,
  `addkey ann:${P}`,
])('a secret inside a word of the command %p is masked in other fields and in the output', (command) => {
  expectHidden([commandSubmitted(command), filterTyped(P)], /hunter2secret/)
  expectHidden([commandSubmitted(command), lines(`I got ${P}`)], /hunter2secret/, true)
})
test.each(['-pX', '{"password":"X"}', '/setup:X', 'setkey key=X', 'login ann "X"', 'user=ann;pwd=X;', 'use a://b:X@c'])(
  'a secret with separators, inside a word of the command %p, is masked in the output in all encodings',
  (template) => {
    const secret = 'w1nter&lamp=9+x'
    const said = [secret, `got ${btoa(secret)}.`, Buffer.from(secret).toString('hex')]
    expectHidden(
      [commandSubmitted(template.replace('X', secret)), lines(...said)],
      /w1nter|dzFudG|JmxhbXA|77316e74/,
      true,
    )
  },
)
test.each(['setkey x7 k2 p9 q4', 'setkey "x7 k2 p9 q4"', 'verify x7 k2 p9 q4'])(
  'a code of short groups in the command %p is masked in other fields and in the output',
  (command) =>
    expectHidden(
      [
        commandSubmitted(command),
        query('getFiles', '/', { files: [{ name: 'x7k2p9q4.txt' }] }),
        lines('got x7 k2 p9 q4', `got ${btoa('x7 k2 p9 q4')}.`),
      ],
      /x7 ?k2|eDcgazI/,
    ),
)
test.each([
  ['register X X', commandSubmitted],
  ['login ann X', commandSubmitted],
  ['mysql -u root -pX', commandSubmitted],
  ['config set smtp.password X', commandSubmitted],
  ['run:\n  command:\n    - bot\n    - --password\n    - X\n', (text: string) => draftTyped({ name: 'world', text })],
])('the passphrase in %j is masked in all encodings, wherever it is', (template, type) => {
  const secret = 'correct horse "battery" staple'
  const said = [secret, btoa(secret), btoa(`a${secret}`), Buffer.from(secret).toString('hex')]
  expectHidden(
    [
      type(template.replaceAll('X', secret)),
      query('getDeployments', undefined, [{ name: 'world', description: said.join(' or ') }]),
      lines(...said),
    ],
    /horse|BvcnNl|b3JzZ|aG9yc2|686f727365/,
  )
})
test.each([
  ['a command', commandSubmitted('setkey correct horse battery staple')],
  [
    'a setting that does not look secret',
    draftTyped({ name: 'world', text: 'env:\n  LIST: correct horse battery staple' }),
  ],
])('a passphrase of ordinary words in %s is masked in the output in all encodings', (_where, typed) =>
  expectHidden(
    [
      typed,
      lines(
        `got ${btoa('ann:correct horse battery staple')}.`,
        '636f727265637420686f727365206261747465727920737461706c65',
      ),
    ],
    /RlcnkgC|JzZSBi|686f7273/,
    true,
  ),
)
test.each([
  [`say ${P}`, `You said: say ${P}`],
  ['say Zebra-7731x', `got ${btoa('Zebra-7731x')}`],
  ['say correct horse battery', '<console> Correct horse battery'],
  ['say the door is Zebra-7731x, come in', 'ann got zebra-7731x'],
])('the typed text of the harmless command %p is masked in the output', (command, line) => {
  const { text } = exported([commandSubmitted(command), lines(line, 'the door opens')], true)
  expect(text).not.toMatch(/hunter2secret|WmVicmEt|horse|zebra/i)
  expect(text).toContain('the door opens')
})
test.each([
  ['a command of an address', 'git clone https://p@ss:w/rd#1?x=2@github.com/x', ['got /foo p@ss:w/rd#1?x=2']],
  ['split after a bracket', 'auth p@ss:w/rd#1?x=2', ['[12:00:01] [main]: p@ss:w', '[12:00:02] [main]: /rd#1?x=2']],
])('a secret is masked completely in a line of output that looks like a call: %s', (_what, command, said) =>
  expectHidden([commandSubmitted(command), lines(...said)], /p@s|[s•]:w|rd#|=2/, true),
)
test.each(['foo %X%', 'foo *X*', 'foo a.X.b', 'foo ~X', 'foo $X', 'foo X!', 'foo |X|'])(
  'a secret between signs in the command %p is masked in the output in all encodings',
  (template) => {
    for (const secret of ['84729163', 'Kx7vqZ2mWp4'])
      expectHidden(
        [commandSubmitted(template.replace('X', secret)), lines(`it is ${secret}`, `got ${btoa(secret)}.`)],
        /847291|ODQ3Mjkx|Kx7vqZ|S3g3dnFa/,
        true,
      )
  },
)
test.each([
  'give ann stone{display:{Name:"X"}}',
  'setblock 1 2 3 oak_sign{Text1:"X"}',
  `summon a {CustomName:'{"text":"X","color":"red"}'}`,
  'scoreboard players set 84729163 y 1',
])('a quoted text and a long number in the harmless command %p are masked in the output', (template) => {
  for (const secret of ['brave horse lamp', 'p@ss:w/rd#1', '84729163'])
    if (template.includes('X') || secret === '84729163')
      expectHidden(
        [commandSubmitted(template.replace('X', secret)), lines(`<ann> ${secret}, ok?`, `got ${btoa(secret)}.`)],
        /brave|YnJhdm|p@ss|cEBzcz|847291|ODQ3Mjkx/,
        true,
      )
})
test.each([
  'run:\n  command: ["sh", "-c", "X"]',
  'run:\n  javaArgs: ["-Dfoo=bar", "X"]',
  'run:\n  env:\n    MOTTO: &motto "X" # of all',
  `run:\n  env:\n    CONFIG: '{"a":{"b":"X"}}'`,
  'run:\n  env:\n    "X": a name',
  'data:\n  keep: ["X"]',
  'run:\n  javaArgs: ["-ea -Dfoo=X"]',
])('a quoted text with separators in the definition %j is masked in the output in all encodings', (definition) =>
  expectHidden(
    [
      draftTyped({ name: 'world', text: `name: world\n${definition.replace('X', 'Zq7,rT(9)k.m!')}\n` }),
      lines('got Zq7,rT(9)k.m!', `got ${btoa('Zq7,rT(9)k.m!')}.`),
    ],
    /Zq7|rT\(9|WnE3LHJUKDkp/,
    true,
  ),
)
test('the password of an address without a user name is masked in the output in all encodings', () =>
  expectHidden(
    [
      draftTyped({ name: 'world', text: 'run:\n  env:\n    URL: "redis://:Zq7%2CrT%289%29@cache:6379"\n' }),
      lines('got Zq7,rT(9)', `got ${btoa('Zq7,rT(9)')}.`),
    ],
    /Zq7|rT\(9|WnE3LHJUKDkp/,
    true,
  ))
test.each(['p@ss:w/rd#1?x=2', 'Tr0,ub4;dor.9'])(
  'the secret %p is masked where a program leaves letters and digits of it, as in a name of a file',
  (secret) =>
    expectHidden(
      [password(secret), ...['-', '_', ''].map((sign) => lines(`made ${secret.replace(/[^a-z0-9]+/gi, sign)}.txt`))],
      /ss.?w.?rd.?1|Tr0.?ub4/,
      true,
    ),
)
test('a secret that was typed as a command is masked in all encodings, with or without a leading slash', () =>
  expectHidden([commandSubmitted('/Zebra7731x'), lines(`got ${btoa('Zebra7731x')}.`)], /WmVicmE/, true))
test('a secret in the command history of an earlier visit is masked', () =>
  expectHidden([commandsLoaded([`setkey ${P}`]), filterTyped(P)], /hunter2secret/))

test.each<[string, Action, string]>([
  ['in upper case', password(P), P.toUpperCase()],
  ['as NFD', password('Cänary7731'.normalize('NFC')), 'Cänary7731'.normalize('NFD')],
  ['in full-width letters', password(P), 'ｈｕｎｔｅｒ２ｓｅｃｒｅｔ'],
  ['with an invisible character', password(P), 'hunter\u200b2secret'],
  ['without the leading space of the pasted secret', password(` ${P}`), P],
  ['as a code in two groups', code('773177'), '773 177'],
  ['as the code without its space', code('773 177'), '773177'],
])('a secret is masked when it was typed %s', (_how, typed, elsewhere) =>
  expectHidden([typed, filterTyped(elsewhere)], new RegExp(elsewhere)),
)

test.each<[string, string, string]>([
  ['partly, as in URLs', 'a&b=c ä+d@e7731', encodeURI('a&b=c ä+d@e7731')],
  ['with lower-case escapes', 'Cänary7731', 'C%c3%a4nary7731'],
  ['twice in a URL', 'Cä nary7731', encodeURIComponent(encodeURIComponent('Cä nary7731'))],
  ['as ASCII-only JSON', 'Cänary7731', 'C\\u00e4nary7731'],
  ['as JSON within JSON', 'ab"cd\\ef7731', JSON.stringify(JSON.stringify('ab"cd\\ef7731'))],
  ['as hexadecimal', P, Buffer.from(P).toString('hex')],
])('a secret is masked when it is encoded %s', (_how, secret, form) =>
  expectHidden([password(secret), searched(form)], secret === P ? /68756e746572/ : /7731/),
)

test.each<[string, string]>([
  ['an OSC sequence', 'hunter2\u001b]8;;x\u0007secret'],
  ['a color code with colons', 'hunter2\u001b[38:5:1msecret'],
  ['a C1 sequence', 'hunter2\u009b31msecret'],
  ['a character set sequence', 'hunter2\u001b(Bsecret'],
  ['a Minecraft color', 'hunter2§csecret'],
  ['a Minecraft color that is its own letter', 'hunter2secr§et'],
  ['a carriage return', 'hunter2\rsecret'],
  ['a backspace', 'hunter2\b\bsecret'],
])('a secret interrupted by %s is masked', (_what, line) => expectHidden([password(P), lines(line)], /secret"/, true))
test('a secret of six characters is masked if it follows the § of a Minecraft color code', () =>
  expectHidden([password('abcdef'), lines('it is §abcdef.'), filterTyped('§abcdef')], /bcdef/, true))
test('a value of a definition is masked in output even if it contains color codes', () =>
  expectHidden(
    [
      draftTyped({ name: 'world', text: 'name: world\nrun: { env: { KEY: draft-canary-1 } }' }),
      lines('draft-\u001b[31mcanary-1'),
    ],
    /canary-1/,
    true,
  ))
test('a colored value that is masked after a keyword is also masked where it has no color', () =>
  expectHidden([lines(`password: \u001b[33m${P}\u001b[0m`), lines(`it is ${P}`)], /hunter2secret/, true))

test.each(['"ab,cd;ef(gh)ij"', '"a b c d e f g"'])(
  'the password %s of a definition is masked even though its parts are short',
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

test('the ETag of a directory listing is left out, because it is a hash of masked names', () => {
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

test('the ETag of the overview is left out, because it is a hash of masked values', () => {
  const overview = { managerSilent: false, sections: [], version: '"VG18r3dcGAlF953m0UwjUl_BCZE"' }
  expectHidden([query('getOverview', null, overview), ...old()], /VG18r3dc/)
})

test.each(['content', 'buffer', 'blocks', 'position', 'commands', 'session', 'deployment'])(
  'with the password %p the state keeps its property names, and no reducer throws',
  (word) => {
    const { log } = exported(
      [password(word), lines('one'), commandSubmitted('list'), ...old(), lines('two'), commandSubmitted('list')],
      true,
    )
    let state = complete(replayReducer, log.base)
    const thrown = log.actions.flatMap((action) => {
      const step = takeStep(replayReducer, state, action)
      state = step.state
      return step.thrown ?? []
    })
    expect(thrown).toEqual([])
    // A masked property name would reveal the password.
    expect(JSON.stringify(log.base)).not.toContain('•••')
  },
)

test('an error message is masked when the password starts with the username', () =>
  expectHidden(
    [call('login', { username: 'hunter', password: P }, 'rejected', { status: 400, message: `odd: ${P}` })],
    /2secret/,
  ))
test('the username of a failed sign-in is masked in other places', () =>
  expectHidden(
    [
      call('login', { username: P, password: 'another-word' }, 'rejected', { status: 401, message: 'no' }),
      filterTyped(P),
    ],
    /hunter2secret/,
  ))

test('the start of a secret is masked where a keyword inside the secret caused the rest to be masked', () => {
  const secret = 'Zebra7secret:x9y8w7v6u5t4'
  for (const said of [
    lines(`it is ${secret}`),
    call('restartDeployment', 'world', 'rejected', { status: 500, message: `Odd: ${secret}` }),
    query('getDeployments', undefined, [{ name: 'world', description: `${secret} it is` }]),
  ])
    expectHidden([password(secret), said], /Zebra7/)
})

test('a secret that overlaps itself is masked completely', () =>
  expectHidden([password('xyxyxyxy'), filterTyped('xyxyxyxyxy')], /•xy/))

test.each([`execute as ann run setkey ${P}`, `execute run login ${P}`])(
  'the secret in the nested command of %p is masked',
  (command) => expectHidden([commandSubmitted(command)], /hunter2secret/),
)

test('a filter text that looks like a secret is masked like a line of output', () =>
  expectHidden([filterTyped(`password=${P}`)], /hunter2secret/))

test('a sign-in after thousands of unrecorded actions is recorded, and its password is masked', () => {
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

test('if there are too many secrets, all texts are masked, and the log still replays', () => {
  const many = Array.from({ length: 150 }, (_, index) =>
    commandSubmitted(`setkey ${`${index}-`.repeat(3000).slice(0, 10_000)}x${index}`),
  )
  expectHidden(
    [...many, commandSubmitted(`setkey ${P}`), filterTyped(P), commandSubmitted(`say ${P}`)],
    /hunter2secret/,
  )
})

test('a long secret is masked completely', () => {
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

test.each(['hunt', 'er2s', 'cre', 'ecret'])('a secret pasted in pieces is masked: %s', (piece) =>
  expectHidden([password(P), filterTyped(piece)], new RegExp(`"${piece}"`)),
)

test.each<[string, Action]>([
  [
    'an error message',
    call('restartDeployment', 'world', 'rejected', {
      status: 500,
      message: `cannot connect to postgres://root:${P}@db/game`,
    }),
  ],
  [
    'the error message of one file',
    call('deleteFiles', [{ path: '/nfsshare/a' }], 'rejected', {
      status: 500,
      failed: [{ path: '/nfsshare/a', message: `token=${P}` }],
    }),
  ],
  [
    'the exit reason of an instance',
    query('getInstances', 'world', [{ uid: 'u', name: 'world', lastExit: { reason: `--password ${P} is no option` } }]),
  ],
  [
    'the ready condition of an instance',
    query('getInstances', 'world', [{ uid: 'u', name: 'world', lateStart: { waitingFor: `password=${P}` } }]),
  ],
  [
    'a warning',
    query('getDeploymentConfig', 'world', { content: 'name: world', warnings: [`run.args: password ${P}`] }),
  ],
  [
    'a description of several lines',
    query('getDeployments', undefined, [{ name: 'world', description: `A world.\nThe password is ${P}` }]),
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
])('text from the server that looks like a secret is masked: %s', (_where, action) => expectHidden([action], /hunter2/))
test('a secret found in an error message is masked in the output', () =>
  expectHidden(
    [
      call('restartDeployment', 'world', 'rejected', { status: 500, message: `postgres://root:${P}@db/game` }),
      lines(`I am ${P}`),
    ],
    /hunter2secret/,
    true,
  ))

test('an ordinary word in quotes does not count as a secret in a command or a definition', () => {
  const failure = { status: 409, message: 'lobby did not start, or server' }
  const { text } = exported(
    [
      commandSubmitted('setkey "lobby" \'server\''),
      query('getDeploymentConfig', 'world', { content: 'name: world\nrun: { env: { KIND: "lobby" } }\n' }),
      query('getDeployments', undefined, [{ name: 'lobby' }, { name: 'server' }]),
      call('restartDeployment', 'world', 'rejected', failure),
    ],
    false,
  )
  expect(text).toContain('"lobby"')
  expect(text).toContain(failure.message)
})

test('messages of the console and the key of an assignment in a command are kept', () => {
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

test('an ID that looks like a secret is kept, so that a replay removes the right notification', () => {
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

test('a file name that looks like a secret is kept, so that pages find their data', () => {
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
  ['a timestamp', ['[12:00:01 INFO]: hunter', '[12:00:01 INFO]: 2secret!']],
  ['a date', ['2026-11-22T12:00:01.123Z hunt', '2026-11-22T12:00:01.124Z er2s', '2026-11-22T12:00:01.125Z ecret']],
  ['a level and a name', ['INFO [main] hunt', 'INFO [main] er2secret']],
  ['an unknown common prefix', ['<<lobby#1>> say=hunter', '<<lobby#2>> say=2secret']],
  ['a symbol', ['> hunter', '> 2secret']],
  ['a colored timestamp', ['\u001b[32m12:00:01\u001b[0m hunter', '\u001b[32m12:00:02\u001b[0m 2secret']],
  [
    'a key of JSON, and end with others',
    ['hunt', 'er2s', 'ecret'].map((msg, at) => JSON.stringify({ msg, at, pid: 7 })),
  ],
  ['nothing, and end with a time', ['hunt (12:00:01)', 'er2s (12:00:02)', 'ecret (12:00:03)']],
  ['a word and a dash', ['[main] c.e.App - hunter', '[main] c.e.App - 2secret']],
  ['a field, and end with another', ['t=1 msg="hunt" pid=7', 't=2 msg="er2s" pid=7', 't=3 msg="ecret" pid=7']],
  ['a line number', ['9 | hunter', '10 | 2secret']],
  ['another level each', ['{"level":"info","msg":"hunter","at":1}', '{"level":"warn","msg":"2secret","at":2}']],
  ['the side of a frame, and end with another', ['+------+', '| hunt |', '| er2s |', '| ecret|', '+------+']],
])('a secret split across lines that start with %s is masked', (_what, said) =>
  expectHidden([password(P), lines(...said)], /hunt|2sec|ecret/, true),
)

test.each([
  ['reversed', [...P].reverse().join('')],
  ['as hexadecimal digits separated by colons', [...Buffer.from(P)].map((byte) => byte.toString(16)).join(':')],
  ['as byte values', `[${[...Buffer.from(P)].join(', ')}]`],
])('a secret is masked when it is printed %s', (_how, form) =>
  expectHidden(
    [password(P), lines(`it is ${form}`), searched(form)],
    new RegExp(form.slice(4, -4).replaceAll(' ', ' ?')),
    true,
  ),
)

test('text that was typed into any field of the sign-in pages is masked even if the form was not submitted', async () => {
  network.get('/api/auth/methods').answers({ passkeys: false, openId: null })
  const { store, user } = renderApp('/register')
  await user.type(await screen.findByLabelText('Invite code'), P)
  await user.click(screen.getByRole('link', { name: 'Sign In' }))
  await user.type(await screen.findByLabelText('Password'), 'other-word-1')
  recorderOf(store)
  await user.type(screen.getByLabelText('Password'), '234')
  act(() => void store.dispatch(lines(`one ${P}`, 'two other-word-1', 'three other-word-1234', 'four')))
  expect(JSON.stringify(recorderOf(store).recording(true).actions.at(-1)!.payload)).toBe(
    JSON.stringify(['mone •••', 'mtwo •••', 'mthree •••', 'mfour']),
  )
})

test('a new password is masked even if the form was not submitted', async () => {
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

test('what looks like a secret and was typed into a field outside of the store is hidden in the output', async () => {
  network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  const { store, user, network: answered } = renderApp('/', { signedInAs: 'ann' })
  answered.shows([])
  await screen.findByRole('heading', { name: 'Network Overview' })
  recorderOf(store)
  await user.keyboard('{Control>}k{/Control}')
  const field = await screen.findByRole('combobox')
  await user.type(field, P)
  await user.clear(field)
  await user.type(field, 'files')
  act(() => void store.dispatch(lines(`it is ${P}`, 'it has files')))
  expect(recorderOf(store).recording(true).actions.at(-1)!.payload).toEqual(['mit is •••', 'mit has files'])
})

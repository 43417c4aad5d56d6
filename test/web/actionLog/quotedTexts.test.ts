/** @jest-environment node */
import { readDefinition } from '../../../src/contract/definitionText'
import { notified } from '../../../src/web/facts'
import { draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { destinationTyped, fileOpened, filterTyped, moveStarted } from '../../../src/web/features/files/filesSlice'
import { filesChosen, uploadsProgressed } from '../../../src/web/features/files/uploads/uploadSlice'
import { call, expectNowhere, exported, files, later, SECRET } from '../../support/web/exportedLog'

type Action = { type: string; payload?: unknown }

const definition = (more: string) => `name: world\ntype: process\n${more}\n`
const save = (content: string, phase: 'pending' | 'fulfilled' | 'rejected', payload?: unknown) =>
  call('saveDeploymentConfig', { name: 'world', content }, phase, payload)
const states = (text: string) => Array.from(text, (_letter, at) => text.slice(0, at + 1))
const expectInNoLog = (actions: Action[], secret = SECRET) => {
  expectNowhere(exported(actions).text, secret)
  expectNowhere(exported([...actions, ...later]).text, secret)
}

test('a valid type in a definition is kept', () => {
  const { log } = exported([draftTyped({ name: 'world', text: 'name: x\ntype: process\n' })])
  expect(log.actions[0]!.payload).toMatchObject({ text: 'name: •••\ntype: process\n' })
})

test.each(['name', 'type', 'node', 'description', 'dataDirectory'])(
  'every prefix of a secret that was typed key by key is masked in the setting %s of a definition',
  (setting) => {
    const typing = states(SECRET).map((value) => draftTyped({ name: 'world', text: `${setting}: ${value}\n` }))
    const { log } = exported([files('hunting.txt'), ...typing])
    for (const { payload } of log.actions.slice(1)) expect(payload).toMatchObject({ text: `${setting}: •••\n` })
    const before = exported([files('hunting.txt'), ...typing, ...later.slice(0, 1990)]).log.base
    expect(JSON.stringify(before.configuration)).not.toContain('hu')
  },
)

test.each(['name', 'type', 'node', 'description', 'dataDirectory'])(
  'a text typed into a definition is masked whatever spaces and line breaks it contains: %s',
  (setting) => {
    for (const blank of [' ', '  ', '\t', ' \u00a0', ' \u3000', ' \ufeff'])
      for (const end of ['\n', '\r\n', ' \r\n', '\u2028\n', '\u0085\n', ' # x\r\n', '\r'])
        expectNowhere(
          exported([draftTyped({ name: 'world', text: `${setting}:${blank}${SECRET}${end}${setting}: x` })]).text,
        )
  },
)

test('every prefix of a secret that was typed key by key is masked in a path, and the directories of the path are kept', () => {
  const typing = states(`/nfsshare/world/${SECRET}`).map((path) => destinationTyped(path))
  const { log } = exported([files('world', 'hunting.txt'), moveStarted([]), ...typing])
  const typed = log.actions.slice(2).map(({ payload }) => String(payload))
  expect(typed.slice(0, 16)).toEqual(states('/nfsshare/world/'))
  for (const path of typed.slice(16)) expect(path).toMatch(/^\/nfsshare\/world\/•+\d*$/)
})

test.each([
  ['a tag', `!${SECRET}`, `Line 3: Unresolved tag: !${SECRET}.`],
  ['a standard YAML tag', `!!${SECRET} x`, `Line 3: Unresolved tag: tag:yaml.org,2002:${SECRET}.`],
  ['a block scalar', `|${SECRET}`, `Line 3: Block scalar header includes extra characters: |${SECRET}.`],
])('an error message does not quote a value that YAML parses as %s', (_what, value, message) => {
  for (const setting of ['description', 'node', 'PASSWORD'])
    expectInNoLog([
      save(definition(`${setting}: ${value}`), 'pending'),
      save(definition(`${setting}: ${value}`), 'rejected', { status: 400, message, line: 3 }),
    ])
})

test('the cache key of a download does not reveal its arguments after the call has left the log', () => {
  const path = `/nfsshare/${SECRET} of ann`
  const key = { fixedCacheKey: `download ${path}` }
  expectInNoLog([call('downloadFile', { path, name: `${SECRET} of ann`, type: '-' }, 'pending', undefined, key)])
})

test('a name with a backslash is masked in a message that quotes it in upper case', () => {
  const path = '/nfsshare/hunter2\\topsecret'
  expectInNoLog(
    [
      call('createFile', path, 'pending'),
      call('createFile', path, 'rejected', {
        status: 400,
        message: '"HUNTER2\\TOPSECRET" contains invalid characters',
      }),
    ],
    'TOPSECRET',
  )
})

test('the error of an upload does not reveal the name of its directory', () => {
  const directory = `/nfsshare/notes.txt/${SECRET}`
  const message = `${directory} is not a directory, or lies below a file.`
  expectInNoLog([
    call('getFiles', directory, 'pending'),
    call('getFiles', directory, 'rejected', { status: 409, message }),
    filesChosen('batch', [{ id: 'u1', name: 'a.txt', directory, size: 1 }], []),
    uploadsProgressed({ at: 2000, changes: [{ id: 'u1', status: 'failed', problem: message }] }),
  ])
})

test('the directory of an upload is masked unless a response contains it, because it may come from a typed address', () => {
  const chosen = (directory: string) =>
    filesChosen('batch', [{ id: 'u1', name: 'a.txt', directory, size: 1 }], [`${directory}/more`])
  expectInNoLog([call('getFiles', `/nfsshare/${SECRET}`, 'pending'), chosen(`/nfsshare/${SECRET}`)])
  expect(exported([files('world', 'more'), chosen('/nfsshare/world')]).log.actions[1]!.payload).toMatchObject({
    files: [{ name: 'a.txt', directory: '/nfsshare/world' }],
    directories: ['/nfsshare/world/more'],
  })
})

test('the name of a file that is opened from a draft is masked unless a response contains the name', () => {
  const item = (name: string) => fileOpened({ path: `/nfsshare/${name}`, name, type: '-' })
  expectInNoLog([item(`${SECRET}.txt`)])
  expect(exported([files('notes.txt'), item('notes.txt')]).log.actions[1]!.payload).toEqual({
    path: '/nfsshare/notes.txt',
    name: 'notes.txt',
    type: '-',
  })
})

test('a quoted name is masked even if the server replaced some of its characters', () => {
  const path = '/nfsshare/hunter2\u202esecret'
  expectInNoLog(
    [
      call('createFile', path, 'pending'),
      call('createFile', path, 'rejected', {
        status: 400,
        message: '"hunter2\ufffdsecret" contains invalid characters',
      }),
    ],
    'hunter2',
  )
})

test.each(['code', 'field'])('a typed text is masked in the field %s of a failure', (field) =>
  expectInNoLog([
    call('createInviteCode', { message: SECRET }, 'pending'),
    call('createInviteCode', { message: SECRET }, 'rejected', { status: 400, message: 'no', [field]: SECRET }),
  ]),
)

/** The failure with which the server refuses a definition. */
function refusalOf(text: string) {
  const read = readDefinition(text)
  if (!('problem' in read)) throw new Error('The definition is valid.')
  return { status: 400, ...read.problem }
}

test.each([
  ['? "hunter\\\n  2secret"\n: 1', 'hunter2secret'],
  ['"hunt\\x65r2secret": 1', 'hunter2secret'],
  [
    'dataDirectory: /world\nrun:\n  command: [sh]\n  env:\n    ? "!hunter\\\n      2!secret"\n    : [1]',
    'run.env.!hunter2!secret',
  ],
  ['run:\n  47 81 15 16: 1', 'run.47 81 15 16'],
  ['a;b;c;9: 1', 'a;b;c;9'],
  ['dataDirectory: /world\nrun: { command: [sh], env: { 47-1: [1] } }', 'run.env.47-1'],
])('the setting %j that a failure names is masked as a whole if it is not a known one', (setting, field) => {
  const failure = refusalOf(definition(setting))
  expect(failure).toMatchObject({ field, message: expect.stringContaining(field) })
  const secret = field.replace(/^run\.(?:env\.)?/, '')
  expectInNoLog(
    [save(definition(setting), 'pending'), save(definition(setting), 'rejected', failure)],
    secret.includes('hunter') ? 'hunter' : secret,
  )
})

test.each([
  'run: !<a;b;c;9d> x',
  'run: !e!a;b;c;9d x',
  'run: !!a;b;c;9d x',
  'run: *a;b;c;9d',
  'description: "\\xa;b;c;9d"',
  'description: >a;b;c;9d\n  x',
  '--- %a;b;c;9d',
])('what the parser quotes of the definition %j in a failure is masked', (setting) => {
  const failure = refusalOf(setting.startsWith('---') ? `${setting.slice(4)}\n---\nname: world\n` : definition(setting))
  expectInNoLog([save(definition(setting), 'pending'), save(definition(setting), 'rejected', failure)], 'b;c')
})

test('the name of a known setting is kept in a failure that is about its value', () => {
  const failure = { status: 400, message: 'Line 3: run.port: must be a number', field: 'run.port', line: 3 }
  const { log } = exported([
    save(definition('run:\n  port: hunter2secret'), 'pending'),
    save(definition('run:\n  port: hunter2secret'), 'rejected', failure),
  ])
  expect(log.actions[1]!.payload).toEqual(failure)
})

test.each([JSON.stringify, encodeURIComponent, (text: string) => text.normalize('NFD')])(
  'a password with spaces and special characters is masked completely in a failure, however it is encoded: %p',
  (encode) => {
    const password = 'Hun qer2 "zé/frvt&x'
    const failure = { status: 400, message: `Odd: ${encode(password)}.` }
    const { text } = exported([call('login', { username: 'ann', password }, 'rejected', failure)])
    for (const part of ['Hun', 'z\u00e9', 'frvt', 'C3%A9']) expect(text).not.toContain(part)
  },
)

test('the search text of a failed search is masked in the failure message', () => {
  const failure = { status: 502, message: `GET /api/activity?search=${SECRET}` }
  expectInNoLog([
    call('getActivity', { search: SECRET }, 'pending'),
    call('getActivity', { search: SECRET }, 'rejected', failure),
  ])
})

test('the failure of a file save keeps its status, and its message, which may quote the file, is masked', () => {
  const args = { path: '/nfsshare/notes.txt', text: 'handle' }
  const actions = [
    files('notes.txt'),
    call('saveFile', args, 'pending'),
    call('saveFile', args, 'rejected', { status: 507, code: 'DISK_FULL', message: `no room: ${SECRET}` }),
  ]
  expectInNoLog(actions)
  expect(exported(actions).log.actions[2]!.payload).toMatchObject({ status: 507, code: 'DISK_FULL' })
})

test('the plain commands in the response for an instance are masked', () => {
  const instance = { uid: 'u', name: 'a-world', deployment: 'world', plainCommands: [SECRET] }
  const overview = { sections: [{ deployment: { name: 'world' }, instances: [instance] }] }
  for (const answer of [
    call('getInstances', 'world', 'fulfilled', [instance]),
    call('getOverview', undefined, 'fulfilled', overview),
  ])
    expectInNoLog([answer, filterTyped(SECRET)])
})

const instances = (of: object) =>
  call('getInstances', 'world', 'fulfilled', [{ uid: 'u', name: 'a-world', deployment: 'world', ...of }])

test.each<[string, string, (value: string) => Action]>([
  [
    'a missing program',
    `run: { command: ["${SECRET}"] }`,
    (value) => instances({ lastExit: { reason: `Could not be started: "${value}" or its directory does not exist` } }),
  ],
  [
    'a missing directory',
    `mounts: ["/${SECRET}"]`,
    (value) => instances({ blockedReason: `The directory /nfsshare/${value} in "mounts" does not exist.` }),
  ],
  [
    'the expected console line',
    `ready: ${SECRET}`,
    (value) => instances({ lateStart: { afterSeconds: 1, waitingFor: `a console line that matches ${value}` } }),
  ],
  [
    'the description of a deployment whose definition is not valid',
    `run: { command: ["${SECRET}"] }`,
    (value) =>
      call('getDeployments', undefined, 'fulfilled', [
        { name: 'world', description: `Its configuration is not valid: Unresolved tag: !${value}.` },
      ]),
  ],
  [
    'directories that could not be copied yet',
    `mounts: ["/${SECRET}"]`,
    (value) => ({
      type: 'realtime/messageReceived',
      payload: { id: 'CLIENT_FILE_SYNC', data: { event: 'sync_started', problem: `"${value}" could not be copied.` } },
    }),
  ],
  [
    'a failed restart',
    `run: { command: ["${SECRET}"] }`,
    (value) =>
      call('restartDeployment', 'world', 'rejected', { status: 409, message: `a-world did not start: "${value}"` }),
  ],
])('a value of a stored definition is masked in server messages: %s', (_what, setting, quoting) => {
  for (const stored of [
    save(definition(setting), 'fulfilled', { made: {}, warnings: [] }),
    call('getDeploymentConfig', 'world', 'fulfilled', { content: definition(setting) }),
  ])
    expectInNoLog([stored, quoting(SECRET), filterTyped(SECRET)])
  // The definition may never have been loaded, so its values are unknown.
  expectInNoLog([quoting(SECRET), filterTyped(SECRET)])
})

test.each<[string, unknown, string]>([
  [
    'restartDeployment',
    'world',
    'a-world did not start again: Jar file not found! Expected path: /nfsshare/world/X.jar',
  ],
  ['restartDeployment', 'world', 'a-world did not start again: "X" or its directory does not exist. Start it.'],
  ['toggleDeployment', { name: 'world', enabled: true }, 'There is no /nfsshare/world/X.'],
])('what a failed %s of %j quotes of a definition that was never loaded is masked: %j', (endpoint, args, quoting) => {
  const message = quoting.replace('X', 'Jr4-glasWort')
  const failed = [
    call('getDeployments', undefined, 'fulfilled', [{ name: 'world' }]),
    call(endpoint, args, 'pending'),
    call(endpoint, args, 'rejected', { status: 409, message }),
    notified('danger', message),
  ]
  expectNowhere(exported(failed).text, 'Jr4-glasWort')
  expectNowhere(exported([...failed, ...later]).text, 'Jr4-glasWort')
})

test.each([
  ['Could not be started: The directory /nfsshare/X in "mounts" does not exist.', ' in "mounts" does not exist.'],
  [
    '/nfsshare/X is a file. The deployment needs a directory there.',
    ' is a file. The deployment needs a directory there.',
  ],
  ['The directory /nfsshare/X no longer exists. Mount or restore it.', ' no longer exists. Mount or restore it.'],
  ['There is no /nfsshare/X.', ''],
])('a path with blanks is masked as a whole in the message %j about an instance', (message, end) => {
  for (const path of ['correct horse k9/b', 'a, is a horse battery/b', 'my 7 7 3/b', 'it was "so']) {
    for (const content of ['', `mounts: [/world, /${path}]`]) {
      const { text, log } = exported([
        call('getDeploymentConfig', 'world', 'fulfilled', { content: definition(content), revision: 'r' }),
        call('getInstances', 'world', 'fulfilled', [{ uid: 'u1', blockedReason: message.replace('X', path) }]),
      ])
      expect(text).not.toMatch(/horse|7 7|it was/)
      const [{ blockedReason }] = log.actions[1]!.payload as [{ blockedReason: string }]
      expect(blockedReason).toBe(`${message.split('/')[0]}•••${end.replace('"mounts"', '•••')}`)
    }
  }
})

test('messages about instances are kept unless they quote the definition', () => {
  const content = definition('run: { jar: paper.jar } # then SIGTERM, then SIGKILL')
  const { log } = exported([
    save(content, 'fulfilled', { made: {}, warnings: [] }),
    instances({ lastExit: { reason: 'Ended by itself by signal SIGTERM' }, blockedReason: 'Port 25565 is taken.' }),
  ])
  expect(log.actions[1]!.payload).toMatchObject([
    { lastExit: { reason: 'Ended by itself by signal SIGTERM' }, blockedReason: 'Port 25565 is taken.' },
  ])
})

test('a typed text of 150,000 characters is masked like any other text', () => {
  const long = 'Ab1'.repeat(50_000)
  const failure = { status: 400, message: `No: ${long}` }
  for (const [endpoint, args] of [
    ['login', { username: 'ann', password: long }],
    ['createFile', `/nfsshare/${long}`],
  ] as const)
    expect(exported([call(endpoint, args, 'pending'), call(endpoint, args, 'rejected', failure)]).text).not.toMatch(
      /Ab1Ab1/,
    )
})

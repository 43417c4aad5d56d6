/** @jest-environment node */
import { maskCommand, maskLine } from '../../../src/contract/secrets/maskCommand'
import { maskDefinition, maskText } from '../../../src/web/actionLog/redact/mask'
import { redactAction } from '../../../src/web/actionLog/redact/redactAction'
import { packLines, unpackLines } from '../../../src/web/actionLog/record/packedLines'
import { withoutSecretParameters } from '../../../src/web/withoutSecretParameters'

test('maskText reveals only the approximate length of a text', () => {
  expect([maskText(''), maskText('7'), maskText('exactly16letters')]).toEqual(['', '•'.repeat(16), '•'.repeat(16)])
  expect(maskText('x'.repeat(17))).toHaveLength(64)
  expect(maskText('x'.repeat(100_000))).toHaveLength(256)
  expect(maskText('one\n\ntwo')).toBe('•••\n\n•••')
})

test.each([
  ['/login hunter22', '/login •••'],
  [
    '[12:00:01 INFO]: ann issued server command: /register hunter22 hunter22',
    '[12:00:01 INFO]: ann issued server command: /register •••',
  ],
  ['rcon.password=hunter22', 'rcon.password •••'],
  ['connecting to postgres://root:hunter22@db/game', 'connecting to postgres:// •••'],
  ['got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig for you', 'got  •••'],
  ['ann joined the game', 'ann joined the game'],
])('the console line %p is recorded as %p', (line, written) => expect(maskLine(line)).toBe(written))

test.each([
  ['say hello ann', 'say hello ann'],
  ['/gamemode creative ann', '/gamemode creative ann'],
  ['minecraft:tp ann bob', 'minecraft:tp ann bob'],
  ['say the token hunter22', 'say the token •••'],
  ['say please login hunter22', 'say please login •••'],
  ['execute as ann run say now Register hunter22', 'execute as ann run say now Register •••'],
  ['say please login', 'say please login'],
  ['say login: hunter22', 'say login •••'],
  ['say (sign in with hunter22)', 'say (sign in •••'],
  ['say ｌｏｇｉｎ hunter22', 'say login •••'],
  ['say hunter22 is my password', 'say •••'],
  ['say the invite code is hunter22', 'say •••'],
  ['say correct horse b4ttery staple is my pwd', 'say •••'],
  ['say where is the token', 'say where is the token'],
  ['whitelist add login_fan', 'whitelist add login_fan'],
  ['authme register bob hunter22', 'authme ••• (28 characters)'],
  ['someplugin hunter22', 'someplugin ••• (19 characters)'],
  ['/login', '/login ••• (6 characters)'],
  ['hunter22', '••• (8 characters)'],
  ['correct horse battery staple', 'correct ••• (28 characters)'],
  ['{"a":1}', '••• (7 characters)'],
])('decisions §10: the command %p is recorded as %p', (command, written) => {
  expect(maskCommand(command)).toBe(written)
  expect(redactAction({ type: 'console/commandSubmitted', payload: command })).toEqual({
    type: 'console/commandSubmitted',
    payload: written,
  })
  expect(redactAction({ type: 'instance/commandsRecalled', payload: [command] })).toEqual({
    type: 'instance/commandsRecalled',
    payload: [written],
  })
})

test.each([
  ['claim trust ann', 'claim trust ann'],
  ['/Claim trust ann', '/Claim trust ann'],
  ['claim password hunter22', 'claim password •••'],
  ['register hunter22 hunter22', 'register •••'],
  ['claims hunter22', 'claims ••• (15 characters)'],
  ['lp2 info', 'lp2 info'],
])(
  'decisions §10: with claim, register and lp2 as plain commands, the command %p is recorded as %p',
  (command, written) => {
    const meta = { plainCommands: ['claim', 'register', 'lp2'] }
    expect(redactAction({ type: 'console/commandSubmitted', payload: command, meta })).toEqual({
      type: 'console/commandSubmitted',
      payload: written,
    })
    expect(redactAction({ type: 'instance/commandsRecalled', payload: [command], meta })).toEqual({
      type: 'instance/commandsRecalled',
      payload: [written],
    })
  },
)

test.each(['login/usernameTyped', 'registration/usernameChosen'])(
  'decisions §10: %s does not record a password typed as the username',
  (type) => {
    expect(JSON.stringify(redactAction({ type, payload: 'hunter22' }))).not.toContain('hunter22')
  },
)

test.each(['login', 'register', 'verifyLogin', 'verifyRegistration'])(
  'decisions §10: the call %s records no username, and its failure does not quote one',
  (endpointName) => {
    const written = redactAction({
      type: 'api/executeMutation/rejected',
      payload: { status: 409, message: 'hunter22 is taken' },
      meta: meta({ endpointName, originalArgs: { username: 'hunter22', password: 'x' } }),
    })
    expect(JSON.stringify(written)).not.toContain('hunter22')
  },
)

test('maskDefinition keeps the structure and only identifying values', () => {
  expect(
    maskDefinition(
      'name: lobby # hunter22\nrun:\n  command: ["node", "bot.js", "--key=hunter22"]\n  env:\n    name: hunter22\n    TOKEN: "hunter 22" # hunter22\n  port: 25565\nunknown: hunter22\n',
    ),
  ).toBe('name: lobby # •••\nrun:\n  command: •••\n  env:\n    name: •••\n    •••: •••\n  port: •••\n•••: •••\n')
})

test.each([
  ['a password with punctuation', 'run:\n  env:\n    A: correct-horse#x', 'run:\n  env:\n    •••: •••'],
  ['a value of punctuation only', 'run:\n  env:\n    A: "#-[]{}>|-"', 'run:\n  env:\n    •••: •••'],
  ['a second value after a carriage return', 'name: world\rPASSWORD: hunter22', 'name: •••'],
  ['a description with a password', 'description: the password is hunter22', 'description: the password •••'],
  [
    'flow and block syntax',
    'instances: [\n]\nrun:\n  command: |-\n    java hunter22\n  mounts: {}\n  - hunter22',
    'instances: [\n]\nrun:\n  command: |-\n    •••\n  mounts: {}\n  - •••',
  ],
  ['CRLF line endings', 'name: world\r\ntype: process\r\n', 'name: world\r\ntype: process\r\n'],
])('maskDefinition masks %s', (_what, text, masked) => expect(maskDefinition(text)).toBe(masked))

test('maskLine is idempotent', () => {
  for (const line of ['login hunter22', 'password: hunter22', 'x --password=hunter22'])
    expect(maskLine(maskLine(line))).toBe(maskLine(line))
  expect(maskLine('password: ••• hunter22')).toBe('password •••')
  expect(maskLine(maskCommand('login hunter22'))).toBe('login ••• (14 characters)')
})

test.each([
  ['/files/a?sort=size&token=x', '/files/a?sort=size'],
  ['/register?invite=abc&from=mail', '/register'],
  ['/instance/a/b?tab=metrics', '/instance/a/b?tab=metrics'],
  ['/?Code=1', '/'],
])('the URL %p is recorded as %p', (address, known) => expect(withoutSecretParameters(address)).toBe(known))

test('of a burst of lines, the first lines, the last lines and the number of the others are recorded', () => {
  const lines = Array.from({ length: 500 }, (_, index) => ({ type: 'message' as const, content: `line ${index}` }))
  const packed = packLines(lines)
  expect(packed).toHaveLength(36)
  const unpacked = unpackLines(packed)
  expect(unpacked).toHaveLength(500)
  expect([unpacked[4], unpacked[5]?.content, unpacked[469]?.content, unpacked[470], unpacked[499]]).toEqual([
    lines[4],
    '…',
    '…',
    lines[470],
    lines[499],
  ])
  expect(
    unpackLines(
      packLines([
        { type: 'error', content: 'boom' },
        { type: 'system', content: '[System] x' },
      ]),
    ),
  ).toEqual([
    { type: 'error', content: 'boom' },
    { type: 'system', content: '[System] x' },
  ])
})

test('of a burst of long lines, fewer lines are recorded, and always the last one', () => {
  const lines = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => ({
      type: 'message' as const,
      content: String(index).padEnd(length, '.'),
    }))
  const long = lines(800, 200)
  expect(packLines(long)).toEqual(
    [...long.slice(0, 4), ...[785], ...long.slice(-11)].map((line) =>
      typeof line === 'number' ? line : `m${line.content}`,
    ),
  )
  expect(unpackLines(packLines(long))).toHaveLength(800)
  const [first, second] = lines(2, 100_000)
  expect(packLines([first!, second!])).toEqual([1, `m${second!.content}`])
  expect(packLines([first!])).toEqual([`m${first!.content}`])
  expect(packLines([])).toEqual([])
})

const meta = (arg: object) => ({
  requestId: 'r',
  requestStatus: 'rejected',
  startedTimeStamp: 1,
  baseQueryMeta: { cookie: 'canary' },
  arg: { type: 'mutation', track: true, ...arg },
})

test('a call is redacted by the rule of its endpoint, and masked arguments are hidden in its failure', () => {
  const written = redactAction({
    type: 'api/executeMutation/rejected',
    payload: { status: 400, message: 'canary-password is too common', secret: 'canary' },
    error: { message: 'Rejected', stack: 'canary' },
    meta: meta({ endpointName: 'setPassword', originalArgs: { id: 7, password: 'canary-password' } }),
  })
  expect(written).toMatchObject({
    payload: { status: 400, message: '••• is too common' },
    meta: { arg: { originalArgs: { id: 7, password: '•'.repeat(16) } } },
  })
  expect(JSON.stringify(written)).not.toContain('canary')
})

test('equal arguments get equal masks in the cache keys of all actions', () => {
  const query = redactAction({
    type: 'api/executeQuery/pending',
    meta: meta({
      type: 'query',
      endpointName: 'unknown',
      originalArgs: { path: 'canary' },
      queryCacheKey: 'unknown({"path":"canary"})',
    }),
  })
  const removed = redactAction({
    type: 'api/queries/removeQueryResult',
    payload: { queryCacheKey: 'unknown({"path":"canary"})' },
  })
  const subscribed = redactAction({
    type: 'api/internalSubscriptions/subscriptionsUpdated',
    payload: [{ op: 'add', path: ['unknown({"path":"canary"})'], value: {} }],
  })
  const key = `unknown({"path":"${'•'.repeat(16)}"})`
  expect(query?.meta).toMatchObject({ arg: { queryCacheKey: key } })
  expect(removed?.payload).toEqual({ queryCacheKey: key })
  expect(subscribed?.payload).toMatchObject([{ path: [key] }])
})

test('a cache patch is redacted by the rule for the path that it changes', () => {
  const written = redactAction({
    type: 'api/queries/queryResultPatched',
    payload: {
      queryCacheKey: 'getDatabases("sql")',
      patches: [
        { op: 'replace', path: [0, 'size'], value: 5 },
        { op: 'replace', path: [0, 'credentials', 'password'], value: 'canary' },
      ],
    },
  })
  expect(written?.payload).toMatchObject({ patches: [{ value: 5 }, { value: '•'.repeat(16) }] })
})

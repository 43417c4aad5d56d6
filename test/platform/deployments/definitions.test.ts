import { dataOf } from '../../../src/contract/deployment'
import { readDefinition } from '../../../src/contract/definitionText'
import { MAX_DEPLOYMENTS, parseDefinition } from '../../../src/platform/deployments/definitions'
import type { AppError } from '../../../src/platform/errors'

const minimal = 'name: lobby\ntype: process\ndataDirectory: /lobby\nrun:\n  command: ["node", "bot.js"]\n'

function failure(text: string): Pick<AppError, 'code' | 'message' | 'details'> {
  try {
    parseDefinition(text)
  } catch (error) {
    const { code, message, details } = error as AppError
    return { code, message, details }
  }
  throw new Error('It was accepted')
}

test('decisions §4: the complete example is valid', () => {
  const text = `
name: lobby                 # DNS label
type: scalable
description: The lobby
dataDirectory: /lobby
run:
  jar: server.jar
  javaArgs: ["-Xmx1G"]
  env: { KEY: value, NUMBER: 5 }
  image: eclipse-temurin:21-jre
  port: 25565
stop: { command: stop, timeoutSeconds: 30 }
ready: 'Done \\('
instances: { min: 1, max: 3, playersPerInstance: 50 }
resources: { cpu: 1000m, memory: 1Gi }
`
  expect(parseDefinition(text)).toEqual({
    name: 'lobby',
    type: 'scalable',
    description: 'The lobby',
    dataDirectory: '/lobby',
    run: {
      jar: 'server.jar',
      javaArgs: ['-Xmx1G'],
      env: { KEY: 'value', NUMBER: '5' },
      image: 'eclipse-temurin:21-jre',
      port: 25565,
    },
    stop: { command: 'stop', timeoutSeconds: 30 },
    ready: 'Done \\(',
    readyTimeoutSeconds: 300,
    plainCommands: [],
    instances: { min: 1, max: 3, playersPerInstance: 50 },
    resources: { cpu: '1000m', memory: '1Gi' },
  })
})

test('decisions §10: plainCommands accepts first words of commands only', () => {
  expect(parseDefinition(`${minimal}plainCommands: [claim, essentials:home, lp2]\n`).plainCommands).toEqual([
    'claim',
    'essentials:home',
    'lp2',
  ])
  for (const word of ['/claim', 'claim all', '""', '"*"']) {
    expect(failure(`${minimal}plainCommands:\n  - spawn\n  - ${word}\n`)).toMatchObject({
      message: 'Line 8: plainCommands.1: must be the first word of a command such as claim, without a slash',
      details: { field: 'plainCommands.1', line: 8 },
    })
  }
  expect(failure(`${minimal}plainCommands: claim\n`)).toMatchObject({ details: { field: 'plainCommands', line: 6 } })
})

test('decisions §4: changing the name or type of a deployment is refused with its line', () => {
  const fixed = { name: 'lobby', type: 'process' } as const
  expect(readDefinition(minimal, fixed)).toMatchObject({ definition: fixed })
  expect(readDefinition(`# first\n${minimal.replace('lobby', 'hub')}`, fixed)).toEqual({
    problem: { message: 'Line 2: name: is fixed after creation and must stay "lobby"', field: 'name', line: 2 },
  })
  expect(readDefinition(minimal.replace('type: process', 'type: proxy'), fixed)).toEqual({
    problem: { message: 'Line 2: type: is fixed after creation and must stay "process"', field: 'type', line: 2 },
  })
  expect(readDefinition(minimal)).toMatchObject({ definition: fixed })
})

test.each([
  ['proxy', 'copy'],
  ['persistent', 'shared'],
  ['scalable', 'copy'],
  ['process', 'shared'],
] as const)('§13 the instances of a %s write to a %s directory by default', (type, data) => {
  expect(dataOf({ type })).toBe(data)
  expect([dataOf({ type, data: 'copy' }), dataOf({ type, data: 'shared' })]).toEqual(['copy', 'shared'])
})

test.each([
  [['whitelist.json', 'plugins/*/data', '.config/x', '..hidden'], undefined],
  [['/etc/passwd'], 'keep.0'],
  [['world/../../other'], 'keep.0'],
  [['world', './data'], 'keep.1'],
  [['world//data'], 'keep.0'],
  [['world/'], 'keep.0'],
  [['..'], 'keep.0'],
])('§13 keep: %j', (keep, field) => {
  const read = readDefinition(`${minimal}data: copy\nkeep: ${JSON.stringify(keep)}\n`)
  if (field === undefined) expect(read).toMatchObject({ definition: { keep } })
  else
    expect(read).toMatchObject({
      problem: {
        field,
        message: `Line 7: ${field}: must be a path within the directory such as whitelist.json or plugins/*/data`,
      },
    })
})

test('§13 keep is refused where the directory is shared', () => {
  expect(readDefinition(`${minimal}keep: [world]\n`)).toMatchObject({
    problem: { message: 'Line 6: keep: is for data: copy; with data: shared all is kept' },
  })
})

test('omitted settings have their defaults', () => {
  expect(parseDefinition(minimal)).toMatchObject({ stop: { timeoutSeconds: 30 } })
})

test('an argument may be empty, as in redis-server --save ""', () => {
  const command = ['redis-server', '--save', '']
  const text = minimal.replace('["node", "bot.js"]', JSON.stringify(command))
  expect(parseDefinition(text).run.command).toEqual(command)
})

test.each([
  ['a wrong value', minimal.replace('process', 'pod'), 2, 'type'],
  ['a value in a list', minimal.replace('"bot.js"', '{}'), 5, 'run.command.1'],
  ['an unknown setting', `${minimal}hostNetwork: true\n`, 6, 'hostNetwork'],
  [
    'a misspelled setting, which is reported before the missing one,',
    minimal.replace('dataDirectory', 'dataDirectroy'),
    3,
    'dataDirectroy',
  ],
  ['an unknown setting, on the line of its key', `${minimal}ports:\n\n  - 1\n`, 6, 'ports'],
  ...['hostPath: /etc', 'namespace: kube-system', 'serviceAccountName: admin', 'securityContext: {}'].flatMap(
    (setting): [string, string, number, string][] => {
      const name = setting.split(':')[0]!
      return [
        [`security 32: ${name}`, `${minimal}${setting}\n`, 6, name],
        [`security 32: ${name} of a program`, `${minimal}  ${setting}\n`, 6, `run.${name}`],
      ]
    },
  ),
  ['security 32: an unknown nested setting', `${minimal}  privileged: true\n`, 6, 'run.privileged'],
  ['a missing command', 'name: lobby\ntype: process\ndataDirectory: /lobby\nrun:\n  port: 1\n', 5, 'run.command'],
  ['a command without a program', minimal.replace('["node", "bot.js"]', '["", "bot.js"]'), 5, 'run.command'],
  ['a node for a process', `${minimal}node: a\n`, 6, 'node'],
  ['min over max', minimal.replace('process', 'scalable') + 'instances: { min: 3, max: 2 }\n', 6, 'instances.min'],
  [
    '§13 a shared directory for several instances',
    minimal.replace('process', 'scalable') + 'instances: { max: 2 }\ndata: shared\n',
    7,
    'data',
  ],
  ['§12 a mount outside the shared area', `${minimal}mounts: ["/maps/../../etc"]\n`, 6, 'mounts.0'],
  ['an invalid regular expression', `${minimal}ready: "("\n`, 6, 'ready'],
  ['an invalid quantity', `${minimal}resources:\n  memory: 1 GB\n`, 7, 'resources.memory'],
  ...['0', '0.000', '"00"'].map((cpu): [string, string, number, string] => [
    `security 181: a CPU limit of ${cpu}`,
    `${minimal}resources:\n  cpu: ${cpu}\n`,
    7,
    'resources.cpu',
  ]),
])('decisions §4: %s is refused with its line and field', (_case, text, line, field) => {
  const { code, message, details } = failure(text)
  expect({ code, details }).toEqual({ code: 'INVALID_DEFINITION', details: { line, field } })
  expect(message).toMatch(new RegExp(`^Line ${line}: ${field.replaceAll('.', '\\.')}: `))
})

test.each([
  ['a program', '"node"', '"\\ud800"'],
  ['an argument', '"bot.js"', '"\\udfff.js"'],
])('security 241: %s with half of a character, which PostgreSQL cannot store, is refused', (_case, text, half) => {
  expect(failure(minimal.replace(text, half))).toMatchObject({
    code: 'INVALID_DEFINITION',
    message: expect.stringMatching(/^Line 5: run\.command\.\d: must be valid Unicode$/),
  })
  expect(parseDefinition(minimal.replace(text, '"\\ud83d\\ude00"')).run.command).toContain('😀')
})

test('invalid YAML is refused with its line', () => {
  expect(failure('name: lobby\ntype: [process\n')).toMatchObject({ code: 'INVALID_DEFINITION', details: { line: 3 } })
  expect(failure('name: lobby\nname: other\n')).toMatchObject({ details: { line: 2 } })
  expect(failure('just words')).toMatchObject({ message: expect.stringContaining('must be a list of settings') })
  expect(failure('')).toMatchObject({ code: 'INVALID_DEFINITION' })
})

test.each(['/lobby/../x', '/..', 'lobby', '/', '//x', '/a//b', '/.', '/a/', '\\x', '/a\\b', '/a\0b'])(
  'the data directory %j is refused',
  (path) => {
    expect(
      failure(minimal.replace('dataDirectory: /lobby', `dataDirectory: ${JSON.stringify(path)}`)).details.field,
    ).toBe('dataDirectory')
  },
)

test.each([';id', '--x', '..', 'a'.repeat(41), '', 'Lobby', '-a', 'a-', 'a b', '$(id)', 'ä', '__proto__'])(
  'security 33: the name %j is refused',
  (name) => {
    expect(failure(minimal.replace('name: lobby', `name: ${JSON.stringify(name)}`)).details).toEqual({
      field: 'name',
      line: 1,
    })
  },
)

const anchors = 'abcdefghijklm'
const bombs = {
  'an alias bomb': `a: &a [${'x,'.repeat(9)}]\n${[...anchors.slice(1)].map((key, at) => `${key}: &${key} [${Array(9).fill(`*${anchors[at]}`).join(',')}]`).join('\n')}`,
  'a merge bomb': `a: &a {x: 1}\n${[...anchors.slice(1)].map((key, at) => `${key}: &${key} {<<: [${Array(9).fill(`*${anchors[at]}`).join(',')}]}`).join('\n')}`,
  'a prototype': `__proto__: { type: process }\n${minimal}`,
  'a custom tag': minimal.replace('lobby', '!!js/function "process.exit()"'),
  'another custom tag': minimal.replace('lobby', '!include /etc/passwd'),
  '10,000 levels of flow': '['.repeat(10_000),
  '10,000 levels of flow maps': '{a: '.repeat(10_000),
  '10,000 levels of a block': `${'- '.repeat(10_000)}x`,
  '7,000 levels of a block': `${'- '.repeat(7_000)}x`,
  '10,000 levels of keys': `${'? '.repeat(10_000)}x`,
  '8,000 levels of keys in one line': `a${': '.repeat(8_000)}`,
  '2,000 levels of values in one line': 'cpu: -1'.repeat(2_000),
  '3,000 quoted keys without a space between': '{"a":'.repeat(50) + '"a":'.repeat(3_000),
  '1,000 levels of indentation': Array.from({ length: 250 }, (_level, at) => `${' '.repeat(at)}a:`).join('\n'),
  'a long text': `# ${'x'.repeat(70_000)}\n${minimal}`,
}

test.each(Object.entries(bombs))('security 31: %s is refused without side effects', (_case, text) => {
  expect(failure(text).code).toBe('INVALID_DEFINITION')
})

test('the cache keeps definitions in use, however many others are read, and does not keep texts that are only sent', () => {
  const inUse = Array.from({ length: MAX_DEPLOYMENTS }, (_text, at) => `${minimal}description: in use ${at}\n`)
  const before = inUse.map((text) => parseDefinition(text))
  for (let at = 0; at < MAX_DEPLOYMENTS; at++) parseDefinition(`${minimal}description: comes and goes ${at}\n`)
  expect(inUse.every((text, at) => parseDefinition(text) === before[at])).toBe(true)
  const [text = ''] = inUse
  for (let at = 0; at < 3 * MAX_DEPLOYMENTS; at++) parseDefinition(`${minimal}description: sent ${at}\n`, {})
  expect(parseDefinition(text)).toBe(before[0])
})

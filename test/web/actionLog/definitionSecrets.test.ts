/** @jest-environment node */
import { settingsOf } from '../../../src/web/actionLog/export/definitionSecrets'
import { draftRestored, draftTyped } from '../../../src/web/features/deployments/configuration/configurationSlice'
import { filterTyped } from '../../../src/web/features/files/filesSlice'
import { commandSubmitted } from '../../../src/web/sockets/consoleSlice'
import { type Action, call, expectHidden, exported, lines, SECRET } from '../../support/web/exportedLog'

const isSecret = (line: string) => /\bpwd: \S/.test(line)

test('a value on several lines is read as one line, and each of its lines is also read separately', () => {
  expect(settingsOf('env:\n  pwd: >-  # a comment\n    one\n    two\n  other: three', isSecret)).toEqual([
    'env:',
    '  pwd: >-  # a comment',
    'pwd: one two',
    'pwd: one',
    'pwd: two',
    '    one',
    '    two',
    '  other: three',
  ])
})

test('the text derived from a definition is limited, even if every line continues the previous line', () => {
  const hostile = Array.from({ length: 700 }, (_none, at) => `${' '.repeat(at)}pwd:`).join('\n')
  const derived = settingsOf(hostile, isSecret).join('\n')
  expect(derived.length).toBeLessThan(hostile.length + 300_000)
})

const definitionWith = (value: string) => `name: world\nrun:\n  env:\n    PASSWORD: ${value}\n`

test.each<[string, Action[]]>([
  ['fetched', [call('getDeploymentConfig', 'world', 'fulfilled', { content: definitionWith(SECRET), revision: 'x' })]],
  ['restored from a draft', [draftRestored({ name: 'world', text: definitionWith(SECRET) })]],
  [
    'saved and removed again',
    [
      draftTyped({ name: 'world', text: definitionWith(SECRET) }),
      call('saveDeploymentConfig', { name: 'world', content: definitionWith(SECRET) }, 'pending'),
      draftTyped({ name: 'world', text: 'name: world' }),
    ],
  ],
])('a password of a definition that was %s is masked in other fields', (_what, actions) =>
  expectHidden([...actions, filterTyped(SECRET)], /hunter2secret/),
)
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
test('a value of a definition is masked in output even if it contains color codes', () =>
  expectHidden(
    [
      draftTyped({ name: 'world', text: 'name: world\nrun: { env: { KEY: draft-canary-1 } }' }),
      lines('draft-\u001b[31mcanary-1'),
    ],
    /canary-1/,
    true,
  ))

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

test('an ordinary word in quotes does not count as a secret in a command or a definition', () => {
  const failure = { status: 409, message: 'lobby did not start, or server' }
  const { text } = exported(
    [
      commandSubmitted('setkey "lobby" \'server\''),
      call('getDeploymentConfig', 'world', 'fulfilled', { content: 'name: world\nrun: { env: { KIND: "lobby" } }\n' }),
      call('getDeployments', undefined, 'fulfilled', [{ name: 'lobby' }, { name: 'server' }]),
      call('restartDeployment', 'world', 'rejected', failure),
    ],
    false,
  )
  expect(text).toContain('"lobby"')
  expect(text).toContain(failure.message)
})

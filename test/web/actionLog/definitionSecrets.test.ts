import { settingsOf } from '../../../src/web/actionLog/export/definitionSecrets'

const isSecret = (line: string) => /\bpwd: \S/.test(line)

test('a value on several lines counts as one line, and with each of its lines', () => {
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

test('a definition whose every line continues the one before derives no more than a limit', () => {
  const hostile = Array.from({ length: 700 }, (_none, at) => `${' '.repeat(at)}pwd:`).join('\n')
  const derived = settingsOf(hostile, isSecret).join('\n')
  expect(derived.length).toBeLessThan(hostile.length + 300_000)
})

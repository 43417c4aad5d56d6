import { settingsOf } from '../../../src/web/actionLog/export/definitionSecrets'

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

import { foldedText, looksSecret, secretPatterns, withoutSecret } from '../../src/contract/secrets/secretCommands'
import { cpuMs } from '../support/time/cpuMs'
import { harmlessLines, secretLines } from './secretLines'

test.each(secretPatterns.map(({ name, pattern }) => [name, pattern] as const))(
  'decisions §10: the pattern "%s" matches its cases and cuts their secrets',
  (name, pattern) => {
    expect(secretLines[name]?.length).toBeGreaterThan(0)
    for (const [line, kept] of secretLines[name] ?? []) {
      expect([line, pattern.test(line), looksSecret(line)]).toEqual([line, true, true])
      expect([line, withoutSecret(line)]).toEqual([line, kept])
    }
  },
)

test('every case belongs to a pattern', () => {
  expect(Object.keys(secretLines)).toEqual(secretPatterns.map(({ name }) => name))
})

test.each(harmlessLines)('decisions §10: %p is not taken for a secret', (line) => {
  expect(looksSecret(line)).toBe(false)
  expect(withoutSecret(line)).toBe(line)
})

test('decisions §10: a line longer than the patterns scan is treated as a secret', () => {
  const long = 'say '.repeat(40_000)
  expect(looksSecret(long)).toBe(true)
  expect(long.startsWith(withoutSecret(long))).toBe(true)
  expect(withoutSecret(long).length).toBeLessThan(long.length)
})

test.each([
  ['combining characters out of order', `a${'\u0301'.repeat(60_000)}${'\u0323'.repeat(60_000)}`],
  ['combining characters that alternate', `a${'\u0301\u0323'.repeat(60_000)}`],
  ['half-width marks, which combine once they are folded', `a${'\u0301'.repeat(60_000)}${'\uff9e'.repeat(60_000)}`],
])('security 140: a line of %s takes linear time', (_shape, line) => {
  const ms = cpuMs(() => {
    expect(looksSecret(`${line} hunter22`)).toBe(false)
    expect(looksSecret(`${line} ｐａｓｓｗｏｒｄ＝hunter22`)).toBe(true)
  })
  expect(ms).toBeLessThan(3000)
})

test('security 140: characters that stand for whole phrases do not make a line longer than the patterns scan', () => {
  const phrases = '\ufdfa'.repeat(8000)
  expect(foldedText(`${phrases} ﬃ`)).toBe(`${phrases} ffi`)
})

test('a letter outside of the 16-bit range is recognized wherever it stands in a long line', () => {
  for (const before of [253, 254, 255, 256, 257])
    expect(looksSecret(`${'.'.repeat(before)}𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝: hunter22`)).toBe(true)
})

test.each([
  ['ｐａｓｓｗｏｒｄ＝hunter22', 'ｐａｓｓｗｏｒｄ'],
  ['ﬁne… /ｌｏｇｉｎ hunter22', 'ﬁne… /ｌｏｇｉｎ'],
  ['／ｌｏｇｉｎ hunter22', '／ｌｏｇｉｎ'],
  ['𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝: hunter22', '𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝'],
  ['pass\u200bword: hunter22', 'pass\u200bword'],
  ['\u001b[36mpassword\u001b[0m=\u001b[35mhunter22\u001b[0m', '\u001b[36mpassword'],
  ['pass\u001b[1mword: hunter22', 'pass\u001b[1mword'],
  ['§6pass§cword: hunter22', '§6pass§cword'],
  ['pass\u0007word: hunter22', 'pass\u0007word'],
])('decisions §10: a secret in %p is recognized despite styled, full-width or invisible characters', (line, kept) => {
  expect(looksSecret(line)).toBe(true)
  expect(line.startsWith(withoutSecret(line))).toBe(true)
  expect(withoutSecret(line)).toBe(kept)
})

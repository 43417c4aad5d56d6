import { resolve } from 'node:path'
import { superLinearAttack } from './growth'
import { patternsOf } from './patternsOf'

const { literals, built } = patternsOf(resolve(__dirname, '../..'), 'src')

/**
 * Files that may build expressions from strings, with the reason. All other expressions are literals, which are tested
 * below.
 */
const MAY_BUILD: Record<string, string> = {
  'src/contract/deployment.ts': 'compiles a definition’s `ready` to check its syntax, and never runs it',
}

test.each([
  [/(?<![a-z0-9])pass(?![a-z0-9])['"]?\s*[=:\s]\s*\S/i, 'whitespace shared by three parts'],
  [/\beyJ[\w-]{8,}\.[\w-]+/, 'a run that can start at each of its characters'],
  [/\b[a-z][a-z0-9+.-]*:\/\//i, 'a word boundary within a run'],
  [/^(a+)+$/, 'a repetition of a repetition'],
  [/\s+$/, 'an unanchored run'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'a repeated prefix'],
  [/^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i, 'three runs of the same characters'],
])('superLinearAttack finds the worst case of %p: %s', (pattern) => {
  expect(superLinearAttack(pattern, 1000)).toBeDefined()
})

test('every regular expression of the product runs in linear time', () => {
  expect(literals.length).toBeGreaterThan(100)
  // The deadline only ends searches that would not terminate.
  const attacked = literals.map(({ place, pattern }) => ({ place, attack: superLinearAttack(pattern) }))
  expect(attacked.filter(({ attack }) => attack !== undefined)).toEqual([])
}, 300_000)

test('every regular expression is a literal, so that the linear-time test covers it', () => {
  expect(built.filter(({ place }) => !(place in MAY_BUILD))).toEqual([])
})

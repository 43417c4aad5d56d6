import { resolve } from 'node:path'
import { superLinearAttack } from './growth'
import { patternsOf } from './patternsOf'

const { literals, built } = patternsOf(resolve(__dirname, '../..'), 'src')

/** Files that build expressions from texts, and why that is no danger. All others write literals, which are tried below. */
const MAY_BUILD: Record<string, string> = {
  'src/contract/deployment.ts': 'compiles a definition’s `ready` to check its syntax, and never runs it',
}

test.each([
  [/(?<![a-z0-9])pass(?![a-z0-9])['"]?\s*[=:\s]\s*\S/i, 'blanks that three parts share'],
  [/\beyJ[\w-]{8,}\.[\w-]+/, 'a run that each of its places may begin'],
  [/\b[a-z][a-z0-9+.-]*:\/\//i, 'words within a run'],
  [/^(a+)+$/, 'a repetition of a repetition'],
  [/\s+$/, 'an unanchored run'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'a beginning that comes again'],
  [/^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i, 'three runs of the same characters'],
])('the search for worst cases finds that of %p: %s', (pattern) => {
  expect(superLinearAttack(pattern, 1000)).toBeDefined()
})

test('every regular expression of the product takes time in proportion to its text', () => {
  expect(literals.length).toBeGreaterThan(100)
  // The deadline of each search only ends those that would go on for ever.
  const attacked = literals.map(({ place, pattern }) => ({ place, attack: superLinearAttack(pattern) }))
  expect(attacked.filter(({ attack }) => attack !== undefined)).toEqual([])
}, 300_000)

test('a regular expression is a literal, so that it is tried', () => {
  expect(built.filter(({ place }) => !(place in MAY_BUILD))).toEqual([])
})

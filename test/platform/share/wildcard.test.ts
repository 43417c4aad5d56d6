import { matchesWildcard } from '../../../src/platform/share/replicas/wildcard'

test.each([
  ['*', 'anything.yml', true],
  ['*.yml', 'config.yml', true],
  ['*.yml', 'config.yaml', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['exact', 'exact', true],
  ['exact', 'exactly', false],
  ['a.c', 'abc', false],
])('the pattern %s and the name %s: %s', (pattern, name, matches) => {
  expect(matchesWildcard(pattern, name)).toBe(matches)
})

test('matching a pattern of many stars against a long name terminates', () => {
  expect(matchesWildcard(`${'*a'.repeat(60)}b`, 'a'.repeat(255))).toBe(false)
})

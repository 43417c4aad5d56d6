import { physicalNameOf, randomPassword, usernameOf } from '../../../src/platform/databases/databaseNames'

test('decisions §8: a database and its user are called by the name of the database, with its case', () => {
  for (const name of ['plots', 'Plots', 'SELECT', '_', '1', 'a'.repeat(63)]) {
    expect([physicalNameOf(name), usernameOf(name)]).toEqual([name, name])
  }
})

test('decisions §8: a name of 64 characters gets a unique, stable physical name of 63', () => {
  const names = ['a'.repeat(64), `${'a'.repeat(63)}b`].map(physicalNameOf)
  expect(names.map((name) => name.length)).toEqual([63, 63])
  expect(new Set(names).size).toBe(2)
  expect(physicalNameOf('a'.repeat(64))).toBe(names[0])
  expect(usernameOf('a'.repeat(64))).toBe(names[0])
})

test('names reserved by PostgreSQL for its roles are valid database names; their roles get other names', () => {
  for (const name of ['pg_monitor', 'pg_x', 'public', 'none', `pg_${'x'.repeat(61)}`]) {
    expect(usernameOf(name)).toMatch(/^db_.{1,60}$/)
    expect(usernameOf(name)).toMatch(/_[0-9a-f]{12}$/)
  }
})

test('decisions §8: passwords are 24 random characters that need no escaping', () => {
  const passwords = Array.from({ length: 100 }, randomPassword)
  for (const password of passwords) expect(password).toMatch(/^[A-Za-z0-9_-]{24}$/)
  expect(new Set(passwords).size).toBe(100)
})

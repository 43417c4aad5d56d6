import { looksSecret, withoutSecret } from '../../src/contract/secretCommands'

test.each([
  '/login hunter22',
  'login hunter22',
  ' /l hunter22',
  '/register hunter22 hunter22',
  '/changepassword old new',
  'set password = hunter22',
  'rcon.password=hunter22',
  'db passwd hunter22',
  'api-key: abcdef',
  'use token abcdef',
  '{"secret": "abc"}',
  'DB_PASSWORD=hunter22',
  'set MYSQL_ROOT_PASSWORD hunter22',
  'PGPASSWORD=hunter22',
  'AWS_SECRET_ACCESS_KEY=hunter22',
  'env DISCORD_TOKEN=hunter22',
  'dbPassword: hunter22',
  'accessToken=hunter22',
  'clientSecret: hunter22',
  '{"refresh_token":"hunter22"}',
  'op_password: hunter22',
  'DB_PASS=hunter22',
  'Cookie: session=hunter22',
  'connect mysql://root:hunter22@db/game',
])('decisions §10: %p looks like it holds a secret, which is not told', (command) => {
  expect(looksSecret(command)).toBe(true)
  expect(withoutSecret(command)).not.toMatch(/hunter22|abc|new/)
})

test.each(['say hello', 'list', 'stop', 'whitelist add login_fan', 'give ann minecraft:compass', 'say the password', 'tp ann 1 2 3', 'say http://example.org/a:b', 'say compass: north', 'author=ann', 'spin 3 times'])(
  'decisions §10: %p does not',
  (command) => expect(looksSecret(command)).toBe(false),
)

test('decisions §10: what is longer than the patterns look at is taken for a secret', () => {
  const long = 'say '.repeat(40_000)
  expect(looksSecret(long)).toBe(true)
  expect(long.startsWith(withoutSecret(long))).toBe(true)
  expect(withoutSecret(long).length).toBeLessThan(long.length)
})

test('decisions §10: a word for a secret before blanks, however many, is told with what follows hidden', () => {
  expect(looksSecret(`pass${' '.repeat(8000)}hunter22`)).toBe(true)
  expect(looksSecret(`pass${' '.repeat(8000)}`)).toBe(false)
})

import { looksSecret } from '../../../src/web/sockets/secretCommands'

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
  'connect mysql://root:hunter22@db/game',
])('decisions §10: %p looks like it holds a secret', (command) => expect(looksSecret(command)).toBe(true))

test.each(['say hello', 'list', 'stop', 'whitelist add login_fan', 'give ann minecraft:compass', 'say the password', 'tp ann 1 2 3', 'say http://example.org/a:b'])(
  'decisions §10: %p does not',
  (command) => expect(looksSecret(command)).toBe(false),
)

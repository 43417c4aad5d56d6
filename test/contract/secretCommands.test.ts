import { foldedText, looksSecret, secretPatterns, withoutSecret } from '../../src/contract/secrets/secretCommands'
import { cpuMs } from '../support/time/cpuMs'

/** Assembled at run time, so that scanners for leaked keys do not report this file. */
const after = (beginning: string, length = 32) => beginning + 'hunter22'.repeat(length / 8)
const BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'

/** The cases of each row of the table: a line that it matches, and the part of the line that is kept. */
const cases: Record<string, [line: string, told: string][]> = {
  'command of a sign-in plugin': [
    ['adminlogin hunter22', 'adminlogin'],
    ['/stafflogin hunter22', '/stafflogin'],
    ['EnableCheats hunter22', 'EnableCheats'],
    ['MakeMeAdmin hunter22', 'MakeMeAdmin'],
    ['#login hunter22', '#login'],
    ['/login hunter22', '/login'],
    ['login hunter22', 'login'],
    [' /l hunter22', ' /l'],
    ['/log hunter22', '/log'],
    ['/register hunter22 hunter22', '/register'],
    ['/reg hunter22', '/reg'],
    ['/changepassword hunter21 hunter22', '/changepassword'],
    ['/changepass hunter21 hunter22', '/changepass'],
    ['changepw hunter22', 'changepw'],
    ['/setpassword hunter22', '/setpassword'],
    ['/unregister hunter22', '/unregister'],
    ['/authme:login hunter22', '/authme:login'],
    ['> login hunter22', '> login'],
    ['/2fa hunter22', '/2fa'],
    ['/email add bob@hunter22', '/email'],
    ['IDENTIFY hunter22', 'IDENTIFY'],
  ],
  'command of a sign-in plugin within a line': [
    ['execute as @a run login hunter22', 'execute as @a run login'],
    ['ann issued: execute run minecraft:register hunter22', 'ann issued: execute run minecraft:register'],
    [
      '[12:00:01 INFO]: ann issued server command: /register hunter22 hunter22',
      '[12:00:01 INFO]: ann issued server command: /register',
    ],
    ['ann: "/changepass hunter22"', 'ann: "/changepass'],
  ],
  'sign-in plugin': [
    ['authme register bob hunter22', 'authme register'],
    ['/authme password bob hunter22', '/authme password'],
    ['nlogin register bob hunter22', 'nlogin register'],
    [
      '[12:00:01 INFO]: CONSOLE issued: nlogin changepass bob hunter22',
      '[12:00:01 INFO]: CONSOLE issued: nlogin changepass',
    ],
  ],
  'part of a command of a plugin': [
    ['/simplelogin unregister hunter22', '/simplelogin unregister'],
    ['/lpb setpw hunter22', '/lpb setpw'],
    ['/plan register --code ABC123', '/plan register'],
    ['/discord link 4821', '/discord link'],
    ['ann issued server command: /discord verify 4821', 'ann issued server command: /discord verify'],
  ],
  'code as an argument': [
    ['/link 4821', '/link'],
    ['/verify AB12-CD34', '/verify'],
    ['join the game and type /setup 1234567', 'join the game and type /setup'],
  ],
  'user of a plugin': [
    ['/user add bob hunter22 admins', '/user add bob'],
    ['plan users register bob hunter22', 'plan users register bob'],
    ['/plan webuser register bob hunter22 1', '/plan webuser register bob'],
  ],
  'key of a shop': [
    ['/enjin setup hunter22', '/enjin setup'],
    ['craftingstore key hunter22', 'craftingstore key'],
    ['minestore setup https://example.org hunter22', 'minestore setup'],
  ],
  'services of IRC': [
    ['/msg NickServ IDENTIFY hunter22', '/msg NickServ IDENTIFY'],
    ['/msg NickServ IDENTIFY ann hunter22', '/msg NickServ IDENTIFY'],
    ['PRIVMSG NickServ :IDENTIFY hunter22', 'PRIVMSG NickServ :IDENTIFY'],
    ['irc say nickserv register hunter22 ann@example.org', 'irc say nickserv register'],
    ['/ns ghost ann hunter22', '/ns ghost'],
    ['/quote OPER ann hunter22', '/quote OPER'],
  ],
  'access list of Redis': [
    ['ACL SETUSER bob on >hunter22 ~* +@all', 'ACL SETUSER bob on >'],
    ['user bob on resetkeys ~* >hunter22', 'user bob on resetkeys ~* >'],
    ['ACL SETUSER bob >hunter22', 'ACL SETUSER bob >'],
    ['acl setuser bob ~* +@all >hunter22 on', 'acl setuser bob ~* +@all >'],
    [`redis-cli ACL SETUSER bob on '~*' '>hunter22'`, `redis-cli ACL SETUSER bob on '~*' '>`],
  ],
  'user of Windows': [
    ['net user bob hunter22', 'net user bob'],
    ['> net.exe user bob hunter22 /domain', '> net.exe user bob'],
  ],
  'user of Windows within a line': [
    ['cmd /c net user bob hunter22 /add', 'cmd /c net user bob'],
    ['got: NET1 USER "ann lee" hunter22 /ADD /Y', 'got: NET1 USER "ann lee"'],
  ],
  'network drive of Windows': [
    ['net use z: \\\\files\\maps hunter22 /user:bob', 'net use z: \\\\files\\maps'],
    ['cmd /c net.exe use "\\\\files\\my maps" /user:bob hunter22', 'cmd /c net.exe use "\\\\files\\my maps"'],
  ],
  'remote console': [
    ['rcon login hunter22', 'rcon'],
    ['/rcon hunter22 status', '/rcon'],
    ['> rcon hunter22 status', '> rcon'],
  ],
  'remote console within a line': [['[12:00:01 INFO]: rcon login hunter22', '[12:00:01 INFO]: rcon login']],
  'option of a Steam server': [
    ['steamcmd +login ann hunter22 +quit', 'steamcmd +login'],
    ['./srcds_run +sv_setsteamaccount hunter22 +map de_dust2', './srcds_run +sv_setsteamaccount'],
    ['+set_steam_guard_code HUNT2', '+set_steam_guard_code'],
  ],
  'name with a value': [
    ['set password = hunter22', 'set password'],
    ['rcon.password=hunter22', 'rcon.password'],
    ['api-key: hunter22', 'api-key'],
    ['{"secret": "hunter22"}', '{"secret'],
    ['app.config["SECRET_KEY"] = "hunter22"', 'app.config["SECRET_KEY'],
    ["define('SECRET_KEY', 'hunter22')", "define('SECRET_KEY"],
    ['DB_PASSWORD=hunter22', 'DB_PASSWORD'],
    ['PGPASSWORD=hunter22', 'PGPASSWORD'],
    ['AWS_SECRET_ACCESS_KEY=hunter22', 'AWS_SECRET_ACCESS_KEY'],
    ['env DISCORD_TOKEN=hunter22', 'env DISCORD_TOKEN'],
    ['dbPassword: hunter22', 'dbPassword'],
    ['{"refresh_token":"hunter22"}', '{"refresh_token'],
    ['Cookie: session=hunter22', 'Cookie'],
    ['license-key: hunter22', 'license-key'],
    ['webhook: hunter22', 'webhook'],
    ['authCode=hunter22', 'authCode'],
    ['"join_code": "hunter22"', '"join_code'],
    ['pin-code: 4711', 'pin-code'],
    ['privKey: hunter22', 'privKey'],
    ['key_pass_phrase=hunter22', 'key_pass_phrase'],
    ['openai.api.key: hunter22', 'openai.api.key'],
  ],
  'name before a value': [
    ['db passwd hunter22', 'db passwd'],
    ['use token hunter22', 'use token'],
    ['set MYSQL_ROOT_PASSWORD hunter22', 'set MYSQL_ROOT_PASSWORD'],
    ["ALTER ROLE ann PASSWORD 'hunter22'", 'ALTER ROLE ann PASSWORD'],
    ['deploy --password hunter22', 'deploy --password'],
    ['./srcds_run +rcon_password hunter22', './srcds_run +rcon_password'],
    ['["server","--password","hunter22"]', '["server","--password'],
    ['<password>hunter22</password>', '<password'],
    ['setPassword("hunter22")', 'setPassword'],
    ['secret|hunter22', 'secret'],
    ['setx SECRET_KEY hunter22', 'setx SECRET_KEY'],
    ['ENV SECRET_KEY_BASE hunter22', 'ENV SECRET_KEY_BASE'],
  ],
  'name in another language': [
    ['Passwort: hunter22', 'Passwort'],
    ['Zugangsdaten: ann hunter22', 'Zugangsdaten'],
    ['contraseña=hunter22', 'contraseña'],
    ['el mot de passe hunter22', 'el mot de passe'],
    ['Пароль: hunter22', 'Пароль'],
    ['密码：hunter22', '密码'],
    ['"hasło": "hunter22"', '"hasło'],
  ],
  'code of a kind in a sentence': [
    ['[DiscordSRV] Your link code is 4821.', '[DiscordSRV] Your link code'],
    ['Steam Guard code: 7RK2P', 'Steam Guard code'],
    ['Your recovery code is "A7B9XK"', 'Your recovery code'],
    ['Your login code is 48-21-93', 'Your login code'],
  ],
  'code in a sentence': [
    ['your code is 773177', 'your code'],
    ['Code: 773 177', 'Code'],
    ['code 77317755', 'code'],
  ],
  'words of a wallet': [
    ['seed phrase: correct horse battery', 'seed phrase'],
    ['recovery-codes: hunt-er22', 'recovery-codes'],
    ['backup_codes=hunter22', 'backup_codes'],
  ],
  'session or licence': [
    ['sid=hunter22', 'sid'],
    ['"sessionId": "hunter22"', '"sessionId'],
    ['license: HUNT-ER22-7731', 'license'],
  ],
  'short name': [
    ['DB_PASS=hunter22', 'DB_PASS'],
    ['pass: hunter22', 'pass'],
    ['Authorization: Bearer hunter22', 'Authorization'],
    ['pin 1234', 'pin'],
    ['mc.pw=hunter22', 'mc.pw'],
    ['rcon_pw: hunter22', 'rcon_pw'],
    ['psw hunter22', 'psw'],
    ['pswd=hunter22', 'pswd'],
    ['bridge_psk hunter22', 'bridge_psk'],
    ['creds: ann:hunter22', 'creds'],
    ["CREATE USER ann IDENTIFIED BY 'hunter22'", 'CREATE USER ann IDENTIFIED BY'],
    [`pass${' '.repeat(8000)}hunter22`, 'pass'],
    ["['./bot', '--pass', 'hunter22']", "['./bot', '--pass"],
    ['TWITCH_OAUTH=hunter22', 'TWITCH_OAUTH'],
  ],
  'name that ends in pass': [
    ['requirepass hunter22', 'requirepass'],
    ['command: ["redis-server", "--requirepass", "hunter22"]', 'command: ["redis-server", "--requirepass'],
    ['CONFIG SET requirepass "hunter22"', 'CONFIG SET requirepass'],
    ['masterauth hunter22', 'masterauth'],
    ['dbpass=hunter22', 'dbpass'],
    ['.pgpass: hunter22', '.pgpass'],
    ['rconpw=hunter22', 'rconpw'],
    ['bindpw hunter22', 'bindpw'],
    ['FTPPASS=hunter22', 'FTPPASS'],
    ['serverpass: hunter22', 'serverpass'],
    ['remotepass = hunter22', 'remotepass'],
    ['ldap_default_authtok = hunter22', 'ldap_default_authtok'],
    ['-Djavax.net.ssl.keyStorePass=hunter22', '-Djavax.net.ssl.keyStorePass'],
  ],
  'short name at the end of a longer one': [
    ['roomPass: hunter22', 'roomPass'],
    ['"userPin": "4711"', '"userPin'],
    ['dbCreds = hunter22', 'dbCreds'],
  ],
  'key that is assigned': [
    ['key=hunter22', 'key'],
    ['map.key = hunter22', 'map.key'],
    ['STEAM_KEY="hunter22"', 'STEAM_KEY'],
    ['run --psk=hunter22', 'run --psk'],
    [`{"key": "${after('', 16)}"}`, '{"key'],
  ],
  'key of several words that is assigned': [
    ['steamKey=hunter22', 'steamKey'],
    ['-DmapKey=hunter22', '-DmapKey'],
    [`hmacKey: ${after('', 16)}`, 'hmacKey'],
    [`{"aesKey":"${after('', 16)}"}`, '{"aesKey'],
  ],
  'Authorization header': [['curl: > Basic aHVudGVyMjI6aHVudGVyMjI=', 'curl: > Basic']],
  'option of a program that signs in': [
    ['mysql -phunter22', 'mysql'],
    ['mysqldump -u root -phunter22 game', 'mysqldump'],
    ['sh -c "redis-cli -h db -a hunter22 ping"', 'sh -c "redis-cli'],
    ['curl -u ann:hunter22 https://example.org', 'curl'],
    ['curl --user ann:hunter22 https://example.org', 'curl'],
    ['unzip -P hunter22 backup.zip', 'unzip'],
    ['docker login -u ann -p hunter22 example.org', 'docker login'],
    ['skopeo copy --creds ann:hunter22 docker://example.org/lobby', 'skopeo'],
    ['lftp -u ann,hunter22 example.org', 'lftp'],
    ['smbclient -U ann%hunter22 //example.org/share', 'smbclient'],
    ['sshpass -p hunter22 ssh ann@host', 'sshpass'],
    ['mcrcon -H host -p hunter22 stop', 'mcrcon'],
    ['sqlcmd -S host -U sa -P hunter22 -Q x', 'sqlcmd'],
    ['ipmitool -H host -U ann -P hunter22 power on', 'ipmitool'],
    ['mosquitto_pub -u ann -P hunter22 -t lobby', 'mosquitto_pub'],
    ['rdesktop -u ann -p hunter22 host', 'rdesktop'],
    ['rar a -hphunter22 backup.rar', 'rar'],
    ['unrar x -phunter22 backup.rar', 'unrar'],
    ['useradd -p hunter22 bob', 'useradd'],
    ['snmpget -v3 -A hunter22 host', 'snmpget'],
    ['etcdctl --user root:hunter22 get lobby', 'etcdctl'],
    ['mumble-server -supw hunter22', 'mumble-server'],
  ],
  'argument of a program for keys': [
    ['openssl enc -aes256 -k hunter22 -in a', 'openssl enc -aes256 -k'],
    ['ssh-keygen -N hunter22', 'ssh-keygen -N'],
    ['ssh-keygen -t ed25519 -N hunter22 -f id', 'ssh-keygen -t ed25519 -N'],
    ['vault login hunter22', 'vault login'],
    ['rclone obscure hunter22', 'rclone obscure'],
    ["exec sp_addlogin 'bob', 'hunter22'", 'exec sp_addlogin'],
  ],
  'input of a program that reads a password': [
    ['echo hunter22 | sudo -S ls', 'echo '],
    [`echo "bob:hunter22" | sudo chpasswd`, 'echo '],
    ['printf hunter22 | docker login --password-stdin', 'printf '],
  ],
  'input of a program in a shell': [
    ['sudo -S ls <<< hunter22', 'sudo -S ls <<<'],
    ['kinit bob <<<hunter22', 'kinit bob <<<'],
  ],
  'option of a program for remote desktops': [['wfreerdp /u:ann /p:hunter22 /v:host', 'wfreerdp /u:ann /p:']],
  'password in an address': [
    ['connect mysql://root:hunter22@db/game', 'connect mysql://'],
    ['jdbc:postgresql://ann:hunter/22@db/game', 'jdbc:postgresql://'],
  ],
  'password in a data source of Go': [
    ['dial root:hunter22@tcp(db:3306)/game', 'dial '],
    ['root:hunter@22@tcp(db:3306)/game', ''],
    ['DSN=root:hunter/22@unix(/run/mysqld.sock)/', 'DSN='],
  ],
  'token in an address': [['git clone https://hunter22hunter22@example.org/x.git', 'git clone https://']],
  'parameter of an address': [
    ['GET /map?key=hunter22', 'GET /map?key='],
    ['https://example.org/x?a=1&X-Amz-Signature=hunter22', 'https://example.org/x?a=1&X-Amz-Signature='],
  ],
  'address of a webhook': [
    ['https://discord.com/api/webhooks/123/hunter22', 'https://discord.com/api/webhooks/'],
    ['https://hooks.slack.com/services/T0/B0/hunter22', 'https://hooks.slack.com/'],
    ['https://example.webhook.office.com/webhookb2/hunter22', 'https://example.webhook.office.com/'],
  ],
  'signed token': [['got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.hunter22 for you', 'got ']],
  'key with a known beginning': [
    ...[
      'ghp_',
      'gho_',
      'github_pat_',
      'glpat-',
      'sk-',
      'sk-proj-',
      'sk_live_',
      'rk_test_',
      'xoxb-',
      'npm_',
      'hf_',
      'qd_',
    ].map((beginning): [string, string] => [`use ${after(beginning)}`, 'use ']),
  ],
  'key of AWS': [[`aws AKIA${'HUNTER22'.repeat(2)}`, 'aws ']],
  'token of a chat bot': [
    [`bot M${after('', 24)}.hunte2.${after('', 24)}`, 'bot '],
    [`bot 123456789:AA${after('')}`, 'bot '],
  ],
  'hash of a password': [
    ['ann $2a$10$hunter22hunter22hunter22', 'ann '],
    ['$argon2id$v=19$m=65536,t=3,p=4$hunter22$hunter22', ''],
  ],
  'bytes in hexadecimal digits': [
    ['got <Buffer 68 75 6e 74 65 72 32 32 ... 24 more bytes>', 'got <Buffer'],
    ['00000000  68 75 6e 74 65 72 32 32  68 75 6e 74 65 72 32 32  |hunter22hunter22|', '00000000'],
    ['00000010: 6875 6e74 6572 3232 0a                   hunter22.', '00000010'],
    ['00000000: 746e7568 32327265 746e7568  hunter22hunt', '00000000'],
    ['|00000000| 68 75 6e 74 65 72 32 32                         |hunter22        |', '|00000000'],
    ['[12:00:01 DEBUG]: \t0x0010:  6875 6e74 6572 3232  hunter22', '[12:00:01 DEBUG]: \t0x0010'],
  ],
  PEM: [['key -----BEGIN RSA PRIVATE KEY-----', 'key ']],
  'long run of Base64': [
    [BODY, ''],
    [`[12:00:01 INFO]: ${BODY}`, '[12:00:01 INFO]: '],
    [`id ${after('', 64)}`, 'id '],
  ],
  'end of Base64': [
    ['q1pHT5fYYhbXUmHunter22==', ''],
    ['say x\nq1pHT5fYYhbXUmHunter22==', 'say x\n'],
  ],
  'line of Base64': [
    ['q1pHT5fYYhbXUmHunter22/x', ''],
    ['> q1pHT5fYYhbX+UmHunter22', ''],
    ['x\nq1pHT5fYYhbXUmHunter22\ny', 'x\n'],
  ],
}

test.each(secretPatterns.map(({ name, pattern }) => [name, pattern] as const))(
  'decisions §10: the pattern "%s" matches its cases and cuts their secrets',
  (name, pattern) => {
    expect(cases[name]?.length).toBeGreaterThan(0)
    for (const [line, told] of cases[name] ?? []) {
      expect([line, pattern.test(line), looksSecret(line)]).toEqual([line, true, true])
      expect([line, withoutSecret(line)]).toEqual([line, told])
    }
  },
)

test('every case belongs to a pattern', () => {
  expect(Object.keys(cases)).toEqual(secretPatterns.map(({ name }) => name))
})

test.each([
  'say hello',
  'list',
  'stop',
  'whitelist add login_fan',
  'give ann minecraft:compass',
  'say the password',
  'tp ann 1 2 3',
  'say http://example.org/a:b',
  'say compass: north',
  'author=ann',
  'spin 3 times',
  'ann joined the game',
  'time set day',
  'gamemode creative ann',
  '[12:00:01 INFO]: Done (3.2s)! For help, type "help"',
  '[12:00:01 INFO]: Starting minecraft server version 1.21.4',
  'Loading libraries/net/minecraft/server/1.21.4/server-1.21.4.jar',
  '/home/ann/servers/lobby/plugins/config.yml',
  '    at net.minecraft.server.MinecraftServer.run(MinecraftServer.java:123)',
  'ann[/127.0.0.1:53122] logged in with entity id 42',
  'https://www.npmjs.com/package/@scope/name',
  'give @p diamond 3',
  'say keys are fun',
  'monkey=3',
  'say rcon is off',
  'steamcmd +login anonymous +app_update 740',
  '069a79f444e94726a5befca90e38aaf5',
  '/home/ann/servers/Lobby1/plugins',
  'say ｈｅｌｌｏ',
  'say ﬁne…',
  'give ann minecraft:stick[custom_name="key"]',
  'ns is up',
  'save-all flush',
  'worldedit:regen 2',
  'ann lost connection: Disconnected',
  'UUID of player ann is 069a79f4-44e9-4726-a5be-fca90e38aaf5',
  'motd=',
  'task-runner finished',
  'License: MIT',
  'exited with code 137',
  'status code 1006',
  'exit code: 3221225786',
  'Forgot your password?',
  'tokens/list.txt',
  'battlePass: true',
  'bypass: true',
  'renderPass = 3',
  'compass = north',
  'registryKey: minecraft_overworld_of_the_lobby',
  'zip code: 12345',
  'incredible: yes',
  'spinCreds',
  'password.txt',
  'say senhas',
  'fill 1000 64 1000 1010 70 1010 stone',
  'tp Steve 1250 70 1330 90 0',
  'forceload add 1000 1000 1010 1010',
  '2020 12 31 10 05',
  'Mem: 15930 1234 5678 9012',
  'plan to restart the users',
  'say /link to the map',
  '/link',
  '/verify',
  'execute as @a run say hello',
  'new users add value to a server',
  'echo hello | tr a-z A-Z',
  '<<<<<<< HEAD',
  '<<< Welcome >>>',
  '[12:00:01 INFO]: <<< Welcome >>>',
  'openssl version -k',
  'the link code is documented in docs/link.md',
  '/usr/bin login shells',
  'net user',
  'net user bob',
  'net user bob /delete',
  'net user bob *',
  'net use',
  'rarely used -p or -u',
  'mumble-server -ini murmur.ini',
  'see /p:7 of the manual',
  'net use z: \\\\files\\maps',
  'net use z: \\\\files\\maps /persistent:yes',
  'net use z: /delete',
  'say the net user count is 7',
  'the net user count is 7/8',
  'user bob >7 times',
  `pass${' '.repeat(8000)}`,
])('decisions §10: %p is not taken for a secret', (line) => {
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
])('decisions §10: a secret in %p is recognized despite styled, full-width or invisible characters', (line, told) => {
  expect(looksSecret(line)).toBe(true)
  expect(line.startsWith(withoutSecret(line))).toBe(true)
  expect(withoutSecret(line)).toBe(told)
})

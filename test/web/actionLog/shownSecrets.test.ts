/** @jest-environment node */
import { holdText } from '../../../src/web/api/heldTexts'
import { commandSubmitted, linesReceived } from '../../../src/web/sockets/consoleSlice'
import { cardToggled, creationStarted, nameTyped, tabChosen } from '../../../src/web/features/databases/databasesSlice'
import { call, expectNowhere, files, later } from '../../support/web/exportedLog'
import { exportOf } from '../../support/web/secretLeaks'

const SECRET = 'K7QM-XW4T-9RHZ-P2VD'

test.each(['createApiKey', 'createRecoveryCodes', 'beginAuthenticator'])(
  'a secret that is shown once is masked everywhere, although it never enters the store: %s',
  (endpoint) => {
    const info = { id: 'a1', name: 'nightly' }
    const actions = [
      call(endpoint, {}, 'pending'),
      call(endpoint, {}, 'fulfilled', { info, text: holdText(`1\n${SECRET}`, [SECRET]) }),
      files(`${SECRET}.txt`),
      commandSubmitted(`say ${SECRET}`),
      linesReceived([{ type: 'message', content: `got ${SECRET} or ${Buffer.from(SECRET).toString('base64')}` }]),
    ]
    for (const more of [[], later])
      for (const withOutput of [false, true]) {
        const text = exportOf([...actions, ...more], withOutput)
        expectNowhere(text, SECRET)
        expectNowhere(text, Buffer.from(SECRET).toString('base64').slice(4, -4))
      }
  },
)

test.each([
  ['K7QM-XW4T-9RHZ-P2VD', 'k7qmxw4t9rhzp2vd'],
  ['K7QM-XW4T-9RHZ-P2VD', 'K7QMXW4T-9RHZP2VD'],
  ['k7qm xw4t 9rhz p2vd', 'K7QM-XW4T-9RHZ-P2VD'],
  ['773177', '773-177'],
  ['correct horse-battery', 'correct_horse_battery'],
])('the secret %p is also masked in responses and in the output when it is written as %p', (secret, form) => {
  const text = exportOf(
    [
      call('createRecoveryCodes', {}, 'fulfilled', { text: holdText(secret, [secret]) }),
      files(`${form}.txt`, 'notes-of-2026.txt'),
      linesReceived([{ type: 'message', content: `got ${form} at 2026-11-25` }]),
    ],
    true,
  )
  expectNowhere(text, form)
  expect(text).toContain('notes-of-2026.txt')
  expect(text).toContain(' at 2026-11-25')
})

test('a code that was typed without dashes is masked where it is encoded with dashes', () => {
  const encoded = ['base64', 'hex'].map((encoding) => Buffer.from(SECRET).toString(encoding as 'hex'))
  const text = exportOf([
    call('verifyRecoveryCode', { recoveryCode: 'k7qm xw4t9rhz-p2vd' }, 'pending'),
    files(...encoded.map((name) => `${name}.txt`)),
  ])
  for (const form of encoded) expectNowhere(text, form.slice(4, -4))
})

const NFC = 'C\u00e4nary7731\u00f6'
test.each([
  ['without its leading space', ' hunter2secret', 'hunter2secret'],
  ['without its trailing space', 'hunter2secreta ', 'hunter2secreta'],
  ['in composed form (NFC)', NFC.normalize('NFD'), NFC],
  ['in decomposed form (NFD)', NFC, NFC.normalize('NFD')],
  ['without the spaces between its groups', '773 177 123', '773177123'],
])('a secret is masked in encoded text that was made from it %s', (_how, typed, form) => {
  const encoded = ['base64', 'hex'].map((encoding) => Buffer.from(form).toString(encoding as 'hex'))
  const text = exportOf(
    [
      call('login', { username: 'ann', password: typed }, 'pending'),
      files(...encoded.map((name) => `${name}.txt`)),
      linesReceived(encoded.map((name) => ({ type: 'message', content: `got ${name}.` }))),
    ],
    true,
  )
  for (const name of encoded) expectNowhere(text, name.slice(4, -4))
})

test.each([[], later])('a database name that equals a password typed earlier is masked everywhere', (...more) => {
  const password = 'hunter2_secret'
  const named = { type: 'sql', name: password }
  const shop = { name: password, credentials: { username: password, database: password, port: 5432 } }
  for (const withOutput of [false, true]) {
    const text = exportOf(
      [
        call('login', { username: 'ann', password: 'Hunter2-Secret' }, 'pending'),
        call('getDatabases', 'sql', 'fulfilled', [shop]),
        creationStarted('sql'),
        ...Array.from(password, (_letter, at) => nameTyped(password.slice(0, at + 1))),
        call('createDatabase', named, 'fulfilled', [shop], { requestId: 'r2' }),
        cardToggled({ type: 'sql', name: password }),
        tabChosen({ type: 'sql', name: password, tab: 'connection' }),
        call(
          'deleteDatabase',
          named,
          'rejected',
          { status: 409, message: `"${password}" is in use.` },
          { requestId: 'r3' },
        ),
        ...more,
      ],
      withOutput,
    )
    expectNowhere(text.toLowerCase(), 'hunter')
  }
})

test('the content of a file does not count as a secret', () => {
  const opened = { text: holdText('paper.jar'), characters: 9, lines: 1 }
  const text = exportOf([call('openFile', '/nfsshare/a', 'fulfilled', opened), files('paper.jar')])
  expect(text).toContain('paper.jar')
})

test.each([
  ['server.properties', 'motd=Hello\nrcon.password=Winter:77 lamp\n', 'Winter:77 lamp'],
  ['.env', 'TOKEN=Zq8rocketUmbrella\n', 'Zq8rocketUmbrella'],
  ['luckperms.yml', "data:\n  address: db\n  password: 'lp''Pass_77'\n", "lp'Pass_77"],
  ['config.yml', 'storage:\n  secret: >-\n    Zq8rocket\n    Umbrella\n', 'Zq8rocket Umbrella'],
  ['.env', 'DSN=root:Tr0ub4dor&3x@tcp(db:3306)/game', 'Tr0ub4dor&3x'],
  ['forwarding.secret', 'aB3dE5gH7jK9\n', 'aB3dE5gH7jK9'],
  ['jdbc.xml', '<a>\n  <password>Zq8&amp;rocket&lt;7</password>\n</a>\n', 'Zq8&rocket<7'],
  ['context.xml', '<a>\n  <Env name="password" value="Zq8&amp;rocket 7" x="y"/>\n</a>\n', 'Zq8&rocket 7'],
  ['bot.ini', "[bot]\ntoken = Zq8'rocket 7 ; of the bot\n", "Zq8'rocket 7"],
  ['db.env', 'A=b\nURL=postgres://ann:Zq8%2Frocket%407@db/x\n', 'Zq8/rocket@7'],
  ['server.properties', 'a=b\nrcon.password=Zq8\\:rocket\\=7\n', 'Zq8:rocket=7'],
  ['minified.json', JSON.stringify({ list: 'x'.repeat(2000), password: 'Zq8 "rocket" 7' }), 'Zq8 "rocket" 7'],
  ['index.js', `client.login("brave horse lamp")\n`, 'brave horse lamp'],
  ['bot.py', `bot.run('brave horse lamp')\n`, 'brave horse lamp'],
  ['db.php', `$db = new PDO('mysql:host=db', 'root', 'brave horse lamp');\n`, 'brave horse lamp'],
  ['settings.php', `$db['password'] = 'It\\'s a \\\\ lamp';\n`, "It's a \\ lamp"],
  ['app.py', `app.config["SECRET_KEY"] = "brave horse lamp"\n`, 'brave horse lamp'],
  ['wp-config.php', `define( 'DB_PASSWORD', 'It\\'s a lamp' );\n`, "It's a lamp"],
  ['env.sh', 'PGPASSWORD=brave\\ horse\\ lamp psql -h db\n', 'brave horse lamp'],
  ['dump.sh', `mysqldump -u root -p'brave horse lamp' shop\n`, 'brave horse lamp'],
  ['user.sql', `SET PASSWORD FOR 'ann'@'%' = PASSWORD('brave horse lamp');\n`, 'brave horse lamp'],
  ['config.lua', 'password = [[brave horse lamp]]\n', 'brave horse lamp'],
  ['conf.xml', '<password><![CDATA[brave & horse]]></password>\n', 'brave & horse'],
  ['web.config', '<add s="Server=db;Password=brave horse lamp;Timeout=3" />\n', 'brave horse lamp'],
  ['pod.yml', 'env:\n  - name: DB_PASSWORD\n    value: brave horse lamp\n', 'brave horse lamp'],
  ['site.xml', '<name>bot.token</name>\n<value>brave horse lamp</value>\n', 'brave horse lamp'],
  ['bot.plist', '<dict>\n  <key>Token</key>\n  <string>brave horse lamp</string>\n</dict>\n', 'brave horse lamp'],
  ['one.plist', '<dict><key>ApiKey</key><string>brave horse lamp</string></dict>\n', 'brave horse lamp'],
  ['env.json', '[{ "name": "DB_PASSWORD",\n   "value": "brave horse lamp" }]\n', 'brave horse lamp'],
  ['keys.json', '{ "tokens": ["first-of-all", "brave horse lamp"] }\n', 'brave horse lamp'],
  ['secret.yml', `data:\n  password: ${btoa('brave horse lamp')}\n`, 'brave horse lamp'],
  ['config.json', `{ "auths": { "hub": { "auth": "${btoa('ann:brave horse lamp')}" } } }\n`, 'brave horse lamp'],
  ['users.acl', 'user ann on >swordfish-lamp ~* +@all\n', 'swordfish-lamp'],
  ['.pgpass', 'db:5432:shop:ann:swordfish-lamp\n', 'swordfish-lamp'],
  ['passwords', '# of all\nswordfish-lamp\nother-lamp\n', 'swordfish-lamp'],
  ['pass.txt', 'swordfish-lamp\n', 'swordfish-lamp'],
  ['rcon-pw.txt', 'swordfish-lamp', 'swordfish-lamp'],
  ['Passwort.txt', 'brave horse lamp\n', 'brave horse lamp'],
  ['recovery-codes.txt', '# of ann\nk7wq-3mzp-x8tn\nb2vd-9rcf-h6ys\n', 'b2vd-9rcf-h6ys'],
  ['secrets/rcon', 'swordfish-lamp\n', 'swordfish-lamp'],
  ['creds.txt', 'ann:swordfish-lamp\n', 'swordfish-lamp'],
  ['ldap.conf', 'host db\nbindpw brave horse lamp\n', 'brave horse lamp'],
  ['config.yml', 'room: 1\nroomPass: brave horse lamp\n', 'brave horse lamp'],
  ['settings.toml', 'password = """\nbrave horse lamp"""\nport = 1\n', 'brave horse lamp'],
  ['here.php', '$password = <<<EOT\nbrave horse lamp\nEOT;\n', 'brave horse lamp'],
  ['here.ps1', "$password = @'\nbrave horse lamp\n'@\n", 'brave horse lamp'],
  ['start.sh', 'PASSWORD=brave-horse\\\n-lamp-77\n', 'brave-horse-lamp-77'],
  ['push.sh', 'echo "brave horse lamp" | docker login -u ann --password-stdin\n', 'brave horse lamp'],
  ['secret.sh', 'echo "brave horse lamp" | docker secret create rcon -\n', 'brave horse lamp'],
  ['gh.sh', "echo 'brave horse lamp' | gh auth login --with-token\n", 'brave horse lamp'],
  ['disk.sh', 'echo -n "brave horse lamp" | cryptsetup open /dev/sdb maps -\n', 'brave horse lamp'],
  ['open.sh', 'cryptsetup open /dev/sdb maps <<< "brave horse lamp"\n', 'brave horse lamp'],
  ['root.sh', 'sudo -S ls <<< brave-horse-lamp\n', 'brave-horse-lamp'],
  ['pack.sh', `rar a -hp"brave horse lamp" backup.rar\n`, 'brave horse lamp'],
  ['voice.sh', 'mumble-server -supw brave-horse-lamp\n', 'brave-horse-lamp'],
  ['drive.bat', 'net use z: \\\\files\\maps brave-horse-lamp /user:ann\n', 'brave-horse-lamp'],
  ['user.bat', 'net user ann brave-horse-lamp /add\n', 'brave-horse-lamp'],
  ['acl.sh', `redis-cli ACL SETUSER ann on '>brave-horse-lamp' '~*'\n`, 'brave-horse-lamp'],
  ['desk.sh', `xfreerdp /u:ann '/p:brave horse lamp' /v:host\n`, 'brave horse lamp'],
  ['users.sh', `echo 'ann:brave horse lamp' | chpasswd\n`, 'brave horse lamp'],
  ['decode.sh', `PASS=$(echo ${btoa('brave horse lamp')} | base64 -d)\n`, 'brave horse lamp'],
  ['key.yml', '? password\n: brave horse lamp\n', 'brave horse lamp'],
  ['alias.yml', 'shop: &shop "brave horse lamp"\nenv:\n  DB_PASSWORD: *shop\n', 'brave horse lamp'],
  ['escaped.yml', 'password: "\\U00000062\\U00000072ave\\x20horse \\U0000006camp"\n', 'brave horse lamp'],
  ['binary.yml', `password: !!binary ${btoa('brave horse lamp')}\n`, 'brave horse lamp'],
  ['number.yml', 'password: 0x1F4A9C7B\n', '524983419'],
  ['secure.ps1', '$p = ConvertTo-SecureString "brave horse lamp" -AsPlainText\n', 'brave horse lamp'],
  ['Bot.java', 'JDABuilder.createDefault("brave horse lamp").build();\n', 'brave horse lamp'],
  ['users.csv', 'name,"password",role\nann,brave horse lamp,admin\n', 'brave horse lamp'],
  ['users.csv', 'name;Passwort\nann;"brave ""horse; lamp"\n', 'brave "horse; lamp'],
  ['users.tsv', 'id\ttoken\n1\tswordfish-lamp\n2\tx\n', 'swordfish-lamp'],
  ['users.md', '| password | name |\n|---|---|\n| brave horse lamp | ann |\n', 'brave horse lamp'],
  ['users.txt', '# name,password\n,brave horse lamp\n', 'brave horse lamp'],
  ['redis.yml', 'command: ["redis-server", "--requirepass", "brave horse lamp"]\n', 'brave horse lamp'],
  ['health.yml', 'test: ["CMD", "redis-cli", "-a", "brave-horse-lamp", "ping"]\n', 'brave-horse-lamp'],
  ['mysql.yml', "test: ['CMD', 'mysqladmin', 'ping', '-pbrave-horse-lamp']\n", 'brave-horse-lamp'],
  ['web.xml', '<param-name>password</param-name>\n<param-value>brave horse lamp</param-value>\n', 'brave horse lamp'],
  ['nuget.config', '<a>\n<add value="brave horse lamp" key="ClearTextPassword" />\n</a>\n', 'brave horse lamp'],
  ['auth.json', '{\n  "github-oauth": {\n    "hub": "brave horse lamp"\n  }\n}\n', 'brave horse lamp'],
  ['.env', 'A=b\nTWITCH_OAUTH=brave horse lamp\n', 'brave horse lamp'],
  ['mail.conf', 'a = b\nremotepass = brave horse lamp\n', 'brave horse lamp'],
  ['sssd.conf', 'a = b\nldap_default_authtok = brave horse lamp\n', 'brave horse lamp'],
  ['Bot.cs', 'await client.LoginAsync(TokenType.Bot, "brave horse lamp");\n', 'brave horse lamp'],
  ['bot.go', 'bot, err := discordgo.New("Bot brave-horse-lamp")\n', 'brave-horse-lamp'],
  ['bot.lua', "client:run('Bot brave-horse-lamp')\n", 'brave-horse-lamp'],
  ['client.go', 'req.SetBasicAuth("ann", "brave horse lamp")\n', 'brave horse lamp'],
  ['keys.bat', 'setx SECRET_KEY brave-horse-lamp\n', 'brave-horse-lamp'],
  ['Dockerfile', 'USER ann\nENV SECRET_KEY_BASE brave-horse-lamp\n', 'brave-horse-lamp'],
  ['bridge.conf', 'port 1883\nbridge_psk brave-horse-lamp\n', 'brave-horse-lamp'],
  ['notes.md', '# RCON password:\n\nbrave horse lamp\n', 'brave horse lamp'],
  [
    'dump.sql',
    "INSERT INTO `users` (`id`, `password`) VALUES\n(1, 'x'),\n(2, 'brave horse lamp');\n",
    'brave horse lamp',
  ],
  ['rows.sql', "INSERT INTO users (token, name)\nVALUES\n  ('x', 'y'), ('brave, (horse', 'ann');\n", 'brave, (horse'],
  ['task.json', '{\n  "value": "brave horse lamp",\n  "name": "DB_PASSWORD"\n}\n', 'brave horse lamp'],
  ['vpn.txt', '-----BEGIN Static key-----\nb7a1c2d3e4f50617\n-----END Static key-----\n', 'b7a1c2d3e4f50617'],
  ['secrets.yaml', 'wifi: "Zq8 rocket"\nmqtt: x\n', 'Zq8 rocket'],
  ['passwords.json', '{\n  "ann": "Zq8rocket",\n  "bob": "x"\n}\n', 'Zq8rocket'],
  ['api-keys.toml', '[main]\nshop = "Zq8rocket"\n', 'Zq8rocket'],
  ['long.yml', `${'some: line of text\n'.repeat(20_000)}password: 'Zq8, rocket 7'\n`, 'Zq8, rocket 7'],
])('a secret in the saved content of %s is masked in the output', (name, saved, secret) => {
  const args = { path: `/nfsshare/${name}`, text: holdText(saved) }
  const said = [secret, `got ${Buffer.from(secret).toString('base64')}`, 'Hello']
  const text = exportOf(
    [call('saveFile', args, 'pending'), linesReceived(said.map((content) => ({ type: 'message', content })))],
    true,
  )
  expectNowhere(text, secret.slice(0, 8))
  expectNowhere(text, secret.slice(-8))
  expectNowhere(text, Buffer.from(secret).toString('base64').slice(4, -4))
  expect(text).toContain('Hello')
})

test('the lines of a short file that only holds a word for secrets in its name do not count as secrets', () => {
  const said = 'the-nether has paper.jar'
  const saved = ['compass.txt', 'passengers.md', 'maps/spins.txt', 'secrets/rcon.yml'].map((path, index) =>
    call('saveFile', { path: `/nfsshare/${path}`, text: holdText('the-nether\npaper.jar\n') }, 'pending', undefined, {
      requestId: `r${index}`,
    }),
  )
  const text = exportOf([...saved, linesReceived([{ type: 'message', content: said }])], true)
  expect(text).toContain(said)
})

test.each([
  ['config.json', '{ "name": "survival",\n"password": "brave horse",\n"world": "the-nether" }\njar = paper.jar\n'],
  ['users.csv', 'name,password,world,jar\nsurvival,brave horse,the-nether,paper.jar\n'],
  ['notes.txt', 'the token, the world\nsee: the-nether\n'],
  ['auth.yml', 'server: survival\nworld: the-nether\njar: paper.jar\n'],
  ['empty.yml', 'password:\nworld: the-nether\njar: paper.jar\nname: survival\n'],
])('names and settings beside a secret in the saved file %s do not count as secrets', (name, saved) => {
  const said = 'survival has paper.jar and the-nether'
  const text = exportOf(
    [
      call('saveFile', { path: `/nfsshare/${name}`, text: holdText(saved) }, 'pending'),
      linesReceived([{ type: 'message', content: said }]),
    ],
    true,
  )
  expect(text).toContain(said)
})

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../support/platform/until'
import { definition, useEchoDeployment } from './echoDeployment'
import { commandLine, type Ended } from './runCli'

const { at, shared, withKey, podNameOf, createKey, server, key } = useEchoDeployment()
const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string }

test('an operator signs in, deploys, watches, sends a command, copies files, restarts, stops, creates a database and signs out', async () => {
  const { start, run, runWith, ok } = commandLine(at('day'))
  const signedIn = await runWith(`${key()}\n`, 'login', '--server', `${server()}/`)
  expect(signedIn).toMatchObject({ code: 0, stdout: expect.stringContaining(`Signed in to ${server()} as ann`) })
  expect(statSync(at('day/quarterdeck/config.json')).mode & 0o777).toBe(0o600)

  writeFileSync(at('day.yaml'), definition('day'))
  expect(await run('apply', '-f', at('day.yaml'), '--dry-run')).toMatchObject({
    code: 7,
    stdout: expect.stringContaining('+name: day'),
  })
  await ok('apply', '-f', at('day.yaml'), '--yes')
  expect(await ok('apply', '-f', at('day.yaml'))).toBe('day is unchanged.\n')
  expect(await ok('ps', 'day')).toMatch(/day +process +- +disabled/)
  expect(await ok('start', 'day')).toMatch(/^day-[0-9a-f]{6}: RUNNING\n$/)

  const following = start('logs', '-f', 'day')
  await until(() => following.said.stdout.includes('Ready'))
  await ok('send', 'day', 'say', '-a', 'hello')
  await until(() => following.said.stdout.includes('heard say -a hello'))
  const podName = await podNameOf('day')
  await ok('restart', podName)
  await until(() => following.said.stdout.split('Ready').length === 3)
  following.child.kill('SIGINT')
  expect(await following.ended).toBe(0)

  mkdirSync(at('plugins/deep/empty'), { recursive: true })
  writeFileSync(at('plugins/one.txt'), 'one')
  writeFileSync(at('plugins/deep/two "2".bin'), Buffer.alloc(3_000_000, 7))
  await ok('cp', at('plugins'), 'remote:/day')
  await ok('cp', at('day.yaml'), 'remote:/day/copy.yaml')
  mkdirSync(at('down'))
  expect(JSON.parse(await ok('cp', 'remote:/day/plugins', at('down'), '--json'))).toMatchObject({ files: 2 })
  await ok('cp', 'remote:/nfsshare/day/copy.yaml', at('down'))
  expect(readdirSync(at('down'), { recursive: true }).sort()).toEqual(
    [
      'copy.yaml',
      'plugins',
      'plugins/deep',
      'plugins/deep/empty',
      'plugins/deep/two "2".bin',
      'plugins/one.txt',
    ].sort(),
  )
  expect(readFileSync(at('down/plugins/deep/two "2".bin'))).toEqual(Buffer.alloc(3_000_000, 7))
  expect(readFileSync(at('down/copy.yaml'), 'utf8')).toBe(definition('day'))

  writeFileSync(at('day.yaml'), definition('day', 'description: Changed\n'))
  const changed = await run('apply', '-f', at('day.yaml'), '--yes')
  expect(changed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\+description: Changed$/m) })
  expect(JSON.parse(await ok('restart', 'day', '--json'))).toMatchObject({ instances: [{ state: 'RUNNING' }] })
  // A process has no players that could leave.
  expect(await run('drain', podName)).toMatchObject({ code: 1, stderr: expect.stringContaining('"drain"') })
  expect(await ok('stop', podName)).toBe(`${podName}: STOPPED\n`)
  expect(await ok('stop', 'day')).toBe('day: no instance runs.\n')

  const made = JSON.parse(await ok('db', 'create', 'sql', 'day', '--json')) as { credentials: { password: string } }
  expect(made.credentials.password).toHaveLength(24)
  expect(await ok('logout')).toContain('The key stays valid')
  expect(await ok('logout')).toBe('You were not signed in.\n')
  expect(await run('ps')).toMatchObject({ code: 3, stderr: expect.stringContaining('quarterdeck login') })
})

test('drain waits until an instance is stopped, and drains those of a deployment that run', async () => {
  const { ok } = withKey()
  // How many play is not known, so the time limit counts.
  const more = 'instances: { min: 2, max: 2 }\ndrain: { command: leave, timeoutSeconds: 1 }\n'
  writeFileSync(at('arena.yaml'), definition('arena', more).replace('type: process', 'type: scalable'))
  await ok('apply', '-f', at('arena.yaml'), '--yes')
  await ok('start', 'arena')
  const [{ instances }] = JSON.parse(await ok('ps', 'arena', '--json')) as [{ instances: { podName: string }[] }]
  const [first, second] = instances.map(({ podName }) => podName) as [string, string]
  expect(await ok('drain', first)).toBe(`${first}: STOPPED\n`)
  expect(await ok('drain', 'arena')).toBe(`${second}: STOPPED\n`)
  for (const podName of [first, second]) expect(await ok('logs', podName)).toContain('heard leave\n')
  expect(await ok('drain', 'arena')).toBe('arena: no instance runs.\n')
  await ok('stop', 'arena')
})

test('each command prints JSON with --json', async () => {
  const { runWith } = commandLine(at('json'))
  const [file, down] = [at('table.yaml'), at('table-down.yaml')]
  writeFileSync(file, definition('table'))
  const applied = { deployment: 'table', warnings: [] }
  const power = { name: 'table', waited: true }
  const running = [{ instance: expect.stringMatching(/^table-/), state: 'RUNNING' }]
  const commands: [args: string[], printed: unknown, code?: number][] = [
    [
      ['login', '--server', server()],
      { server: server(), username: 'ann', scopes: expect.any(Array), deployments: null },
    ],
    [['apply', '-f', file, '--dry-run'], { ...applied, action: 'created', dryRun: true }, 7],
    [['apply', '-f', file, '--yes'], { ...applied, action: 'created', dryRun: false }],
    [['apply', '-f', file, '--dry-run'], { ...applied, action: 'unchanged', dryRun: true }],
    [['apply', '-f', file], { ...applied, action: 'unchanged', dryRun: false }],
    [['start', 'table'], { ...power, command: 'start', instances: running }],
    [['restart', 'table'], { ...power, command: 'restart', instances: running }],
    [['ps', 'table'], [expect.objectContaining({ name: 'table', instances: [expect.any(Object)] })]],
    [['logs', 'table', '-n', '1'], expect.objectContaining({ content: expect.any(String) })],
    [['send', 'table', 'hello'], { instance: expect.stringMatching(/^table-/), sent: true }],
    [['cp', file, 'remote:/table/copy.yaml'], expect.objectContaining({ files: 1 })],
    [['cp', 'remote:/table/copy.yaml', down], expect.objectContaining({ files: 1 })],
    [['db', 'create', 'sql', 'table'], expect.objectContaining({ credentials: expect.any(Object) })],
    [['restart', 'table', '--no-wait'], { ...power, command: 'restart', waited: false, instances: [] }],
    [['stop', 'table'], { ...power, command: 'stop', instances: [] }],
    [['drain', 'table'], { ...power, command: 'drain', instances: [] }],
    [['logout'], { signedIn: false }],
    [['version'], { version }],
  ]
  for (const [args, printed, expectedCode = 0] of commands) {
    // What follows the instance of `send` is the command.
    const given = args[0] === 'send' ? ['--json', ...args] : [...args, '--json']
    const { code, stdout, stderr } = await runWith(args[0] === 'login' ? key() : '', ...given)
    expect({ args, code, stderr: code === expectedCode ? '' : stderr }).toEqual({
      args,
      code: expectedCode,
      stderr: '',
    })
    expect({ args, printed: JSON.parse(stdout) as unknown }).toEqual({ args, printed })
  }
})

test('--version, -V and version print the version of the package, and the help names them', async () => {
  const { ok } = commandLine(at('nowhere'))
  for (const asked of ['--version', '-V', 'version']) expect(await ok(asked)).toBe(`${version}\n`)
  expect(await ok('--help')).toMatch(/quarterdeck version .*-V, --version /s)
})

test('send sends words that are options of other commands, and help', async () => {
  const { ok } = withKey()
  writeFileSync(at('words.yaml'), definition('words'))
  await ok('apply', '-f', at('words.yaml'), '--yes')
  await ok('start', 'words')
  for (const command of ['help', 'say -V --version help', 'say -h --help --json', '-x -- y']) {
    await ok('send', 'words', ...command.split(' '))
    await until(
      () => ok('logs', 'words'),
      (text) => text.includes(`heard ${command}\n`),
    )
  }
  expect(await ok('send', '--help')).toContain('quarterdeck send <instance> <words..>')
  await ok('stop', 'words')
})

test('each failure has its exit code and says what to do', async () => {
  const { run, runWith } = withKey()
  const expected: [number, string, Promise<Ended>][] = [
    [1, 'Line 1', runWith('nonsense: 1\n', 'apply', '-f', '-', '--yes')],
    [2, '--yes', runWith(definition('fresh'), 'apply', '-f', '-')],
    [2, 'remote:', run('cp', 'a', 'b')],
    [2, 'Unknown argument: nonsense\nquarterdeck: See: quarterdeck ps --help', run('ps', '--nonsense')],
    [2, 'Unknown command: ls\nquarterdeck: See: quarterdeck --help', run('ls')],
    [2, 'Unknown command: list\nquarterdeck: See: quarterdeck db --help', run('db', 'list')],
    [2, 'Unknown command: lgos. Did you mean "logs"?\nquarterdeck: See: quarterdeck --help', run('lgos', 'lobby')],
    [2, 'Unknown command: aply. Did you mean "apply"?\nquarterdeck: See: quarterdeck --help', run('--json', 'aply')],
    [2, 'Unknown command: creat. Did you mean "create"?\nquarterdeck: See: quarterdeck db --help', run('db', 'creat')],
    [2, 'An argument is missing.\nquarterdeck: See: quarterdeck logs --help', run('logs')],
    [2, '-f needs a value.\nquarterdeck: See: quarterdeck apply --help', run('apply', '-f')],
    [2, '--server needs a value.\nquarterdeck: See: quarterdeck login --help', run('login', '--server')],
    [2, '--lines must be a number such as 100', run('logs', 'echo', '--lines', 'all')],
    [2, '--file may be given once', run('apply', '-f', at('echo.yaml'), '-f', at('other.yaml'))],
    [2, 'One of the two paths must be on this machine', run('cp', 'remote:/a', 'remote:/b')],
    [2, 'Name a command.\nquarterdeck: See: quarterdeck --help', run()],
    [3, 'quarterdeck login', commandLine(at('nowhere')).run('ps')],
    [3, 'quarterdeck login', withKey(`qd_${'0'.repeat(40)}`).run('ps')],
    [5, 'no instance or deployment "missing"', run('logs', 'missing')],
    [5, '/nfsshare/missing', run('cp', 'remote:/missing', at('.'))],
    [
      6,
      'cannot be reached',
      commandLine(at('nowhere'), { QUARTERDECK_SERVER: 'http://127.0.0.1:9', QUARTERDECK_KEY: key() }).run('ps'),
    ],
    [2, 'not an API key', commandLine(at('nowhere')).runWith('my password', 'login', '--server', server())],
  ]
  for (const [code, text, ended] of expected) {
    const { code: actual, stderr } = await ended
    expect({ code: actual, stderr }).toEqual({ code, stderr: expect.stringContaining(text) })
    expect(stderr).not.toMatch(/qd_0|my password/)
  }
})

test('console output cannot control the terminal, and --json prints it unchanged', async () => {
  const { ok } = withKey()
  await ok('send', 'echo', 'attack')
  const printed = await until(
    () => ok('logs', 'echo', '--lines', '5'),
    (text) => text.includes('red'),
  )
  expect(printed).toContain('redend\n')
  // eslint-disable-next-line no-control-regex -- matches control characters
  expect(printed).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/)
  const lines = (await ok('logs', 'echo', '--json')).trim().split('\n')
  // eslint-disable-next-line no-control-regex -- as above
  expect(lines.join('')).not.toMatch(/[\0-\x1f\x7f-\x9f\u202e]/)
  expect(lines.map((line) => (JSON.parse(line) as { content: string }).content).join()).toContain('\u001b[31mred')
})

test('a key with the scope console for one deployment can use its consoles and nothing else', async () => {
  const limited = withKey(await createKey({ scopes: ['console'], deployments: ['echo'] }))
  const podName = await podNameOf('echo')
  await limited.ok('send', podName, 'by', 'key')
  await until(
    () => limited.ok('logs', podName),
    (text) => text.includes('heard by key'),
  )
  for (const args of [['ps'], ['stop', podName], ['restart', 'echo'], ['db', 'create', 'sql', 'no']])
    expect(await limited.run(...args)).toMatchObject({ code: 4, stderr: expect.stringContaining('scope') })
  expect((await limited.run('cp', 'remote:/echo', at('.'))).code).toBe(4)
})

test('a command that the server refuses ends at once', async () => {
  const readOnly = withKey(await createKey({ scopes: ['read'] }))
  const podName = await podNameOf('echo')
  const commands = [
    ['send', podName, 'hello'],
    ['stop', podName],
    ['restart', 'echo'],
  ]
  const results = commands.map(async (args) => {
    const { child, said, ended } = readOnly.start(...args)
    const code = await Promise.race([ended, delay(20_000, 'still running', { ref: false })])
    child.kill()
    return { args, code, stderr: said.stderr }
  })
  expect(await Promise.all(results)).toEqual(
    commands.map((args) => ({ args, code: 4, stderr: expect.stringContaining('scope') })),
  )
}, 60_000)

test('a blocked deployment starts with restart after its cause was removed, and is reported with it before', async () => {
  const { run, ok } = withKey()
  writeFileSync(at('shop.yaml'), definition('shop', 'mounts: [/shelf]\n'))
  await ok('apply', '-f', at('shop.yaml'), '--yes')
  const refused = await run('start', 'shop')
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is blocked: The directory /nfsshare/shelf in "mounts" does not exist.'),
  })
  expect(refused.stderr).toMatch(/^quarterdeck: Its last lines: quarterdeck logs shop-[0-9a-f]{6}$/m)
  expect(await run('restart', 'shop')).toMatchObject({
    code: 1,
    stderr: 'quarterdeck: The directory /nfsshare/shelf in "mounts" does not exist.\n',
  })
  mkdirSync(shared('shelf'))
  expect(await ok('restart', 'shop')).toMatch(/^shop-[0-9a-f]{6}: RUNNING\n$/)
  await ok('stop', 'shop')
  expect(await run('restart', 'shop')).toMatchObject({ code: 1, stderr: expect.stringContaining('"shop" is disabled') })
})

test('restart --no-wait ends while the deployment is still being restarted', async () => {
  const { ok } = withKey()
  writeFileSync(at('slow.yaml'), definition('slow', '').replace('command: stop', 'command: wait'))
  await ok('apply', '-f', at('slow.yaml'), '--yes')
  await ok('start', 'slow')
  await ok('restart', 'slow', '--no-wait')
  expect(await ok('ps', 'slow')).toContain('STOPPING')
})

test('--json may come before the command', async () => {
  const { start, ok } = withKey()
  const { child, said, ended } = start('--json', 'logs', '-f', 'echo')
  expect(JSON.parse(await ok('--json', 'send', 'echo', 'early', '-a'))).toMatchObject({ sent: true })
  await until(() => said.stdout.includes('heard early -a'))
  child.kill('SIGINT')
  expect(await ended).toBe(0)
  expect(await ok('--get-yargs-completions', 'quarterdeck', '--json', 'stop', '')).toMatch(/^echo$/m)
})

test('completion knows commands, deployments and instances', async () => {
  const { ok } = withKey()
  expect(await ok('completion', 'bash')).toContain('complete -o bashdefault')
  expect(await ok('completion', 'zsh')).toContain('#compdef quarterdeck')
  expect(await ok('--get-yargs-completions', 'quarterdeck', 'lo')).toMatch(/^login$/m)
  expect((await ok('--get-yargs-completions', 'quarterdeck', 'logs', '')).trim()).toMatch(/echo-[0-9a-f]{6}/)
  expect(await ok('--get-yargs-completions', 'quarterdeck', 'stop', '')).toMatch(/^echo$/m)
  const config = commandLine(at('completing'))
  await config.runWith(key(), 'login', '--server', server())
  expect((await config.run('--get-yargs-completions', 'quarterdeck', 'logout', '')).code).toBe(0)
  expect((await config.run('ps')).code).toBe(0)
})

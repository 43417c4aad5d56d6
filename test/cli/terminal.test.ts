import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasProgram } from '../support/platform/hasProgram'
import { rightsOf } from '../support/platform/limitedUsers'
import { usePlatform } from '../support/platform/startPlatform'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'
import { PROGRAMS } from '../support/programs'

/** Of util-linux: runs a program on a terminal. */
const testOnTerminal = hasProgram('script') ? test : test.skip

const PROGRAM = "console.log('\\x1b]0;owned\\x07\\x1b[31mred\\x1b[0m'); setInterval(() => {}, 1000)"
const definition = (more = '') =>
  `name: echo\ntype: process\ndataDirectory: /echo\nrun:\n  command: [node, -e, ${JSON.stringify(PROGRAM)}]\n${more}`

const { platform, account: admin } = usePlatform('ann')
let server: string
let key: string
const directory = useTemporaryDirectory()
const at = (name: string) => join(directory(), name)

beforeAll(async () => {
  server = await platform().app.listen({ host: '127.0.0.1', port: 0 })
  key = await rightsOf(platform(), admin()).createKey(admin(), {
    scopes: ['read', 'console', 'power', 'files', 'configuration'],
  })
})

const CTRL_C = '\x03'
const CTRL_D = '\x04'
const BACKSPACE = '\x7f'

/** Runs the command line on a terminal, and types each text when its prompt is there. */
async function onTerminal(args: string[], typed: [prompt: string, text: string][], environment = {}) {
  const command = [process.execPath, join(PROGRAMS, 'cli/main.js'), ...args].map((word) => `'${word}'`).join(' ')
  const { PATH, HOME } = process.env
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    env: { PATH, HOME, TERM: 'xterm', XDG_CONFIG_HOME: at('config'), ...environment },
  })
  let shown = ''
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
  const ended = once(child, 'close')
  let from = 0
  for (const [prompt, text] of typed) {
    await until(
      () => shown.slice(from),
      (text) => text.includes(prompt) || child.exitCode !== null,
    )
    expect(shown).toContain(prompt)
    from = shown.indexOf(prompt, from) + prompt.length
    child.stdin.write(text)
  }
  const [code] = (await ended) as [number | null]
  return { code, shown }
}

testOnTerminal('login asks for the address and the key, and does not show the key', async () => {
  const { code, shown } = await onTerminal(
    ['login'],
    [
      ['Address of the console: ', `${server}\r`],
      ['Key (not shown): ', `${key}x${BACKSPACE}\r`],
    ],
  )
  expect({ code, shown }).toEqual({ code: 0, shown: expect.stringContaining(`Signed in to ${server} as ann`) })
  expect(shown).toContain(`Create a key on this page, and paste it here:\r\n  ${server}/keys\r\n`)
  for (let length = 4; length < key.length; length += 8) expect(shown).not.toContain(key.slice(0, length))
  expect(JSON.parse(readFileSync(at('config/quarterdeck/config.json'), 'utf8'))).toEqual({ server, key })
})

testOnTerminal('on a desktop, login opens the page that creates API keys', async () => {
  mkdirSync(at('bin'))
  const opener = `#!/bin/sh\necho "$@" > '${at('opening')}'\nmv '${at('opening')}' '${at('opened')}'\n`
  writeFileSync(at('bin/xdg-open'), opener, { mode: 0o755 })
  const desktop = { DISPLAY: ':0', PATH: `${at('bin')}:${process.env.PATH}`, XDG_CONFIG_HOME: at('desktop') }
  const { code } = await onTerminal(['login', '--server', server], [['Key (not shown): ', `${key}\r`]], desktop)
  expect(code).toBe(0)
  await until(() => existsSync(at('opened')))
  expect(readFileSync(at('opened'), 'utf8')).toBe(`${server}/keys\n`)
})

testOnTerminal.each([
  ['Ctrl+C', 'its address', [['Address of the console: ', CTRL_C]]],
  ['Ctrl+D', 'its address', [['Address of the console: ', CTRL_D]]],
  [
    'Ctrl+C',
    'its key',
    [
      ['Address of the console: ', 'http://127.0.0.1:9\r'],
      ['Key (not shown): ', `qd_half${CTRL_C}`],
    ],
  ],
  [
    'Ctrl+D',
    'its key',
    [
      ['Address of the console: ', 'http://127.0.0.1:9\r'],
      ['Key (not shown): ', CTRL_D],
    ],
  ],
] as [string, string, [string, string][]][])(
  '%s while login asks for %s ends it without a message',
  async (_key, _what, typed) => {
    const { code, shown } = await onTerminal(['login'], typed, { XDG_CONFIG_HOME: at('interrupted') })
    expect(code).toBe(130)
    expect(shown).not.toContain('quarterdeck:')
    expect(shown).not.toContain('qd_half')
  },
)

testOnTerminal('apply shows the difference in colours and asks before it changes anything', async () => {
  const signedIn = { QUARTERDECK_SERVER: server, QUARTERDECK_KEY: key }
  const apply = (answer: string, more?: string) => {
    writeFileSync(at('echo.yaml'), definition(more))
    return onTerminal(['apply', '-f', at('echo.yaml')], [['[y/N] ', answer]], signedIn)
  }
  const refused = await apply('\r')
  expect(refused).toEqual({ code: 1, shown: expect.stringContaining('Create echo? [y/N]') })
  expect(refused.shown).toContain('Nothing was changed.')
  expect(refused.shown).toContain('\x1b[32m+name: echo\x1b[0m')
  expect(await platform().deployments.list()).toEqual([])
  expect(await apply('y\r')).toEqual({ code: 0, shown: expect.stringContaining('echo was created.') })
  expect(await apply('no\r', 'description: Other\n')).toMatchObject({ code: 1 })
  expect(await apply(CTRL_C, 'description: Other\n')).toMatchObject({ code: 130 })
  expect(await platform().deployments.list()).toMatchObject([{ name: 'echo', description: undefined }])
  expect(await apply('yes\r', 'description: Other\n')).toEqual({
    code: 0,
    shown: expect.stringContaining('Change echo? [y/N]'),
  })
  expect(await platform().deployments.list()).toMatchObject([{ name: 'echo', description: 'Other' }])
})

testOnTerminal('a terminal shows the colours of a console, unless NO_COLOR is set', async () => {
  const signedIn = { QUARTERDECK_SERVER: server, QUARTERDECK_KEY: key }
  await platform().deployments.setEnabled('echo', true)
  const colours = await until(
    () => onTerminal(['logs', 'echo'], [], signedIn),
    ({ shown }) => shown.includes('red'),
  )
  expect(colours).toEqual({ code: 0, shown: expect.stringContaining('\x1b[31mred\x1b[0m') })
  expect(colours.shown).not.toContain('owned')
  const { shown } = await onTerminal(['logs', 'echo'], [], { ...signedIn, NO_COLOR: '1' })
  expect(shown).toContain('red\r\n')
  expect(shown).not.toContain('\x1b')
})

testOnTerminal('a terminal shows the progress of a copy', async () => {
  const signedIn = { QUARTERDECK_SERVER: server, QUARTERDECK_KEY: key }
  mkdirSync(at('sent'))
  for (let file = 0; file < 5; file++) writeFileSync(at(`sent/${file}.bin`), Buffer.alloc(1_000_000))
  const copied = await onTerminal(['cp', at('sent'), 'remote:/'], [], signedIn)
  expect(copied).toEqual({ code: 0, shown: expect.stringContaining('\r\x1b[K') })
})

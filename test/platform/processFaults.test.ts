import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processesOf } from '../support/platform/processesOf'
import { killLeftovers, readyUrl, runProgram, type RunningProgram } from '../support/platform/runPlatform'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

jest.setTimeout(120_000)

const directory = useTemporaryDirectory()

afterAll(killLeftovers)

async function start(name: string, settings: Record<string, string>) {
  const dataDir = join(directory(), name)
  const platform = runProgram('main', {
    QUARTERDECK_DATA_DIR: dataDir,
    QUARTERDECK_PORT: '0',
    QUARTERDECK_SAMPLE: 'off',
    QUARTERDECK_ISOLATION: 'off',
    ...settings,
  })
  return { platform, dataDir, url: await readyUrl(platform) }
}

async function end({ child, exited }: RunningProgram, dataDir: string): Promise<number | null> {
  child.kill()
  const code = await exited
  await stopHost(dataDir)
  return code
}

/** Fails where the platform does not answer in time. */
const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(10_000) })

test('security 144: SIGUSR1, after which Node.js would open a debugger to all programs of this machine, does nothing', async () => {
  const { platform, dataDir, url } = await start('debugger', { QUARTERDECK_LOG_LEVEL: 'error' })
  const host = await until(
    () => processesOf(join(dataDir, 'runtime')),
    ({ length }) => length > 0,
  )

  for (const pid of [platform.child.pid ?? 0, ...host]) process.kill(pid, 'SIGUSR1')

  expect((await get(`${url}/api/health`)).status).toBe(200)
  expect(processesOf(join(dataDir, 'runtime'))).toEqual(host)
  expect(await end(platform, dataDir)).toBe(0)
  expect(platform.output().stderr).toBe('')
  expect(readFileSync(join(dataDir, 'runtime', 'host.log'), 'utf8')).toBe('')
})

/** Sends the signal before the first statement of a program, and prints at its end whether a debugger is open. */
const SIGNAL_AT_START = `
  const inspector = require('node:inspector')
  process.kill(process.pid, 'SIGUSR1')
  while (inspector.url() === undefined);
  process.on('exit', () => console.error('debugger at the end:', inspector.url()))
`

function signalAtStart(): Record<string, string> {
  const file = join(directory(), 'signalAtStart.cjs')
  writeFileSync(file, SIGNAL_AT_START)
  return { NODE_OPTIONS: `--require=${file} --inspect-port=0` }
}

test('security 144: a debugger that SIGUSR1 opened while Node.js was starting is closed by the platform', async () => {
  const { platform, dataDir } = await start('early', signalAtStart())

  platform.child.kill('SIGUSR1')

  expect(await end(platform, dataDir)).toBe(0)
  expect(platform.output().stderr).toContain('debugger at the end: undefined')
})

test.each(['pack', 'unpack', 'sevenZip'])('security 144: SIGUSR1 opens no debugger in %sMain', async (name) => {
  const { exited, output } = runProgram(`share/archives/${name}Main`, signalAtStart())

  await exited

  expect(output().stderr).toContain('debugger at the end: undefined')
})

test('security 145: while the reader of its log hangs, the platform serves, and it continues the log afterwards', async () => {
  const { platform, dataDir, url } = await start('log', { QUARTERDECK_LOG_LEVEL: 'trace' })
  platform.child.stderr?.pause()

  for (let round = 0; round < 60; round += 1)
    for (const { status } of await Promise.all(Array.from({ length: 50 }, () => get(`${url}/api/unknown`))))
      expect(status).toBe(404)
  platform.child.stderr?.resume()
  const before = platform.output().stderr.length
  await until(
    () => platform.output().stderr.length,
    (length) => length > before + 2 ** 19,
  )

  const lines = platform.output().stderr.trimEnd().split('\n')
  expect(lines.every((line) => line.startsWith('{') && line.endsWith('}'))).toBe(true)
  expect(await end(platform, dataDir)).toBe(0)
})

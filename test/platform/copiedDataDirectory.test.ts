import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { endRecordedProcess, writePidFile } from '../../src/platform/databases/mongo/pidFile'
import { isGone } from '../support/platform/processesOf'
import { endProgram, killLeftovers, readyUrl, runProgram } from '../support/platform/runPlatform'
import { pidOfRun, runsOf } from '../support/platform/runsOf'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

jest.setTimeout(300_000)

const directory = useTemporaryDirectory()

afterAll(killLeftovers)

describe.each(['auto', 'off'])('with isolation %s, a copy of a data directory whose instances run', (isolation) => {
  const original = () => join(directory(), `original-${isolation}`)
  const copy = () => join(directory(), `copy-${isolation}`)
  const run = (dataDir: string) =>
    runProgram('main', {
      QUARTERDECK_PORT: '0',
      QUARTERDECK_LOG_LEVEL: 'error',
      QUARTERDECK_DATA_DIR: dataDir,
      QUARTERDECK_ISOLATION: isolation,
    })
  let pid = 0

  beforeAll(async () => {
    const platform = run(original())
    await readyUrl(platform)
    await until(
      () => runsOf(original()),
      ([sample]) => sample?.state === 'RUNNING',
    )
    await endProgram(platform)
    pid = pidOfRun(original())
    await promisify(execFile)('cp', ['-a', original(), copy()])
  })

  afterAll(async () => {
    for (const dataDir of [original(), copy()]) if (existsSync(dataDir)) await stopHost(dataDir)
  })

  test('security 170: is refused by the platform and by stop:all, which leave these instances alone', async () => {
    const refusal = `${copy()} is a copy of ${original()}, whose instances still run: stop them with its stop:all, or remove ${join(copy(), 'runtime')} to start others beside them`
    for (const program of [
      run(copy()),
      runProgram('runtime/local/stopAll', { QUARTERDECK_DATA_DIR: copy(), QUARTERDECK_PORT: '0' }),
    ]) {
      expect(await program.exited).toBe(1)
      expect(program.output().stderr.trimEnd()).toBe(refusal)
    }
    expect(isGone(pid)).toBe(false)
  })

  test('security 170: is used once these instances have ended', async () => {
    const platform = run(original())
    await readyUrl(platform)
    expect(pidOfRun(original())).toBe(pid)
    await endProgram(platform)
    const stop = runProgram('runtime/local/stopAll', { QUARTERDECK_DATA_DIR: original(), QUARTERDECK_PORT: '0' })
    expect(await stop.exited).toBe(0)
    expect(isGone(pid)).toBe(true)

    const other = run(copy())
    await readyUrl(other)
    await until(
      () => runsOf(copy()),
      ([sample]) => sample?.state === 'RUNNING',
    )
    expect(pidOfRun(copy())).not.toBe(pid)
    await endProgram(other)
  })
})

describe('the pid file of a MongoDB server', () => {
  let server: ChildProcess
  const fileIn = (name: string) => join(directory(), name, 'pid')

  beforeEach(async () => {
    server = spawn('sleep', ['600'])
    await once(server, 'spawn')
    mkdirSync(join(directory(), 'mongo'), { recursive: true })
    await writePidFile(fileIn('mongo'), server.pid ?? 0)
  })

  test('security 170: in a copy of the data directory does not end the server of the original', async () => {
    cpSync(join(directory(), 'mongo'), join(directory(), 'copied'), { recursive: true })
    await endRecordedProcess(fileIn('copied'), 1000)
    expect(existsSync(fileIn('copied'))).toBe(false)
    expect(server.signalCode).toBeNull()
    expect(isGone(server.pid ?? 0)).toBe(false)

    await endRecordedProcess(fileIn('mongo'), 1000)
    expect(isGone(server.pid ?? 0)).toBe(true)
  })

  test('security 170: ends the server also after the data directory was moved', async () => {
    renameSync(join(directory(), 'mongo'), join(directory(), 'moved'))
    await endRecordedProcess(fileIn('moved'), 1000)
    expect(isGone(server.pid ?? 0)).toBe(true)
  })
})

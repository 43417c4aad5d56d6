import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openState } from '../../../src/platform/state/db'
import { insertDeployment } from '../../../src/platform/state/deployments'
import { freshDatabase } from '../../support/platform/freshState'
import { processesOf } from '../../support/platform/processesOf'
import { killLeftovers, runProgram } from '../../support/platform/runPlatform'
import { stopHost } from '../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

jest.setTimeout(900_000)

const KILLS = 50
const NAMES = ['one', 'two', 'three', 'four']
const directory = useTemporaryDirectory()

afterAll(killLeftovers)

/** The same "random" numbers in every run: a failure can be repeated. */
function sequence(seed: number): () => number {
  let state = seed
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31
}

test('security 51: after 50 kills of the platform during starts and stops, exactly the wanted instances run, each once', async () => {
  const { url, drop } = await freshDatabase()
  const { db, close } = await openState(url)
  const dataDir = join(directory(), 'data')
  const settings = { QUARTERDECK_DATA_DIR: dataDir, QUARTERDECK_STATE_URL: url, QUARTERDECK_PORT: '0', QUARTERDECK_LOG_LEVEL: 'fatal', QUARTERDECK_SAMPLE: 'off', QUARTERDECK_ISOLATION: 'off' }
  for (const name of NAMES) {
    const program = `process.title; setInterval(() => console.log('tick'), 20) // ${directory()}/${name}`
    const content = `name: ${name}\ntype: process\ndataDirectory: /${name}\nrun: { command: ["node", "-e", ${JSON.stringify(program)}] }\nstop: { timeoutSeconds: 1 }\n`
    await insertDeployment(db, { name, type: 'process', content, enabled: true })
    // As a share with the directories of known deployments: an empty one counts as not mounted (§13).
    await mkdir(join(dataDir, 'nfsshare', name), { recursive: true })
  }
  const next = sequence(7)
  const toggle = (name: string, enabled: boolean) => db.updateTable('deployments').set({ enabled }).where('name', '=', name).execute()

  for (let kill = 0; kill < KILLS; kill++) {
    const platform = runProgram('main', settings)
    await until(() => platform.output().stdout.includes('ready') || platform.child.exitCode !== null)
    expect(platform.output().stderr).toBe('')
    await toggle(NAMES[Math.floor(next() * NAMES.length)]!, next() < 0.5)
    // The moment of the kill is what varies here; nothing is waited for.
    await delay(next() * 150)
    platform.child.kill('SIGKILL')
    await platform.exited
  }

  const wanted = ['one', 'three']
  for (const name of NAMES) await toggle(name, wanted.includes(name))
  const last = runProgram('main', settings)
  const running = () => NAMES.flatMap((name) => processesOf(`${directory()}/${name}`).map(() => name))
  await until(running, (names) => names.join() === wanted.join(), 60)
  // And it stays so over the next rounds of the manager.
  const beats = async () => (await db.selectFrom('heartbeats').select('at').executeTakeFirstOrThrow()).at.getTime()
  const before = await beats()
  await until(beats, (at) => at > before + 5000)
  expect(running()).toEqual(wanted)
  const rows = await db.selectFrom('instances').select(['deployment']).execute()
  expect(rows.map(({ deployment }) => deployment).sort()).toEqual([...NAMES].sort())

  last.child.kill('SIGTERM')
  expect(await last.exited).toBe(0)
  await stopHost(dataDir)
  await close()
  await drop()
})

import { mkdir, readFile, rm, symlink, writeFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { createSampleDeployment } from '../../../src/platform/deployments/sampleDeployment'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { shareDir, manage, deployments, add, stateOf, consoleOf } = managed

test('deleting a deployment stops its instances, removes their console logs and keeps the files', async () => {
  await add('bot', FOREVER)
  manage()
  await until(
    () => stateOf('bot'),
    (now) => now === 'RUNNING',
  )
  await writeFile(join(shareDir(), 'bot/keep.txt'), 'kept')
  await deployments().remove('bot')
  expect(await deployments().list()).toEqual([])
  expect(await managed.runtime.list()).toEqual([])
  expect(await readFile(join(shareDir(), 'bot/keep.txt'), 'utf8')).toBe('kept')
  await deployments().create({ name: 'bot', type: 'process' })
  expect(await deployments().list()).toMatchObject([{ name: 'bot', enabled: false }])
})

test('decisions §5: a process runs in a copy made at its start, a persistent instance in the shared directory itself', async () => {
  const program =
    "console.log('in ' + process.cwd()); console.log(require('node:fs').readFileSync('config.txt', 'utf8')); require('node:fs').writeFileSync('written.txt', 'x'); setInterval(() => {}, 1000)"
  for (const name of ['copied', 'shared']) {
    await mkdir(join(shareDir(), name), { recursive: true })
    await writeFile(join(shareDir(), name, 'config.txt'), 'first')
  }
  await add('copied', program, 'data: copy\n')
  await add('shared', program, 'node: node-a\n', 'persistent')
  manage()
  for (const name of ['copied', 'shared'])
    await until(
      () => consoleOf(name),
      (lines) => lines.includes('first'),
    )
  expect(await consoleOf('shared')).toContain(`in ${await realpath(join(shareDir(), 'shared'))}`)
  expect((await consoleOf('copied'))[0]).toMatch(/\/instances\/copied-[0-9a-f]{6}$/)
  await until(() => readFile(join(shareDir(), 'shared/written.txt'), 'utf8').catch(() => ''))
  await expect(readFile(join(shareDir(), 'copied/written.txt'))).rejects.toThrow('ENOENT')
  await writeFile(join(shareDir(), 'copied', 'config.txt'), 'second')
  await deployments().restart('copied')
  await until(
    () => consoleOf('copied'),
    (lines) => lines.includes('second'),
  )
})

test('§13 a process keeps its files across a restart', async () => {
  await add(
    'counter',
    "const fs = require('fs'); fs.appendFileSync('runs', 'x'); console.log('run ' + fs.readFileSync('runs', 'utf8').length); setInterval(() => {}, 1000)",
  )
  manage()
  await until(
    () => consoleOf('counter'),
    (lines) => lines.includes('run 1'),
  )
  await deployments().restart('counter')
  await until(
    () => consoleOf('counter'),
    (lines) => lines.includes('run 2'),
  )
  expect(await readFile(join(shareDir(), 'counter/runs'), 'utf8')).toBe('xx')
})

test('§12 the mounts of a definition are passed to the runtime, and a missing mount blocks the instance', async () => {
  await mkdir(join(shareDir(), 'maps'))
  await mkdir(join(shareDir(), 'common'))
  await symlink('maps', join(shareDir(), 'linked'))
  await symlink('/etc', join(shareDir(), 'escape'))
  const ensured = jest.spyOn(managed.runtime, 'ensure')
  const keepRunning = 'setInterval(() => {}, 1000)'
  await add('mounting', keepRunning, 'mounts: ["/common", "/linked"]\n')
  await add('missing', keepRunning, 'mounts: ["/nothing"]\n')
  await add('escaping', keepRunning, 'mounts: ["/escape"]\n')
  manage()
  await until(
    () => stateOf('mounting'),
    (now) => now === 'RUNNING',
  )
  expect(ensured.mock.calls.find(([{ podName }]) => podName.startsWith('mounting'))?.[0].mounts).toEqual([
    '/common',
    '/linked',
  ])
  const reasonOf = async (name: string) => (await deployments().instances(name))[0]?.blockedReason
  expect(await until(() => reasonOf('missing'))).toBe('The directory /nfsshare/nothing in "mounts" does not exist.')
  expect(await until(() => reasonOf('escaping'))).toBe('The directory /nfsshare/escape leads out of the shared area.')
  ensured.mockRestore()
})

test('the sample deployment is created by the next start if the first one ended in the middle', async () => {
  await writeFile(join(shareDir(), 'a-file'), '')
  await expect(createSampleDeployment(managed.state.db, join(shareDir(), 'a-file'))).rejects.toThrow('ENOTDIR')
  await mkdir(join(shareDir(), 'sample'))
  await writeFile(join(shareDir(), 'sample/sample.js.new'), '// A tiny')
  await createSampleDeployment(managed.state.db, shareDir())
  expect(await deployments().list()).toMatchObject([{ name: 'sample' }])
  expect(await readFile(join(shareDir(), 'sample/sample.js'), 'utf8')).toContain('You said')
  // A file of the operator stays.
  await writeFile(join(shareDir(), 'sample/sample.js'), 'mine')
  await managed.state.db.deleteFrom('facts').execute()
  await createSampleDeployment(managed.state.db, shareDir())
  expect(await readFile(join(shareDir(), 'sample/sample.js'), 'utf8')).toBe('mine')
  await rm(join(shareDir(), 'sample'), { recursive: true })
})

test('the sample deployment runs, answers, and is not created twice', async () => {
  await createSampleDeployment(managed.state.db, shareDir())
  await createSampleDeployment(managed.state.db, shareDir())
  expect(await deployments().list()).toMatchObject([{ name: 'sample' }])
  manage()
  await until(
    () => stateOf('sample'),
    (now) => now === 'RUNNING',
  )
  const { podName } = (await deployments().instances('sample'))[0]!
  for (const line of ['help', 'ahoy']) await managed.runtime.write(podName, line)
  await until(
    () => consoleOf('sample'),
    (lines) => lines.includes('You said: ahoy'),
  )
  expect(await consoleOf('sample')).toContain('Commands: help, time, uptime, stop. Everything else is said back.')
  expect(await readFile(join(shareDir(), 'sample/sample.js'), 'utf8')).toContain('sample deployment')
})

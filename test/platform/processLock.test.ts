import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { lockOwner, startTimeOf, takeLock } from '../../src/platform/processLock'
import { openLocalRuntime } from '../../src/platform/runtime/local/localRuntime'
import { createReplicas } from '../../src/platform/share/replicas/replicas'
import { childProgram } from '../support/platform/childProgram'
import { runProgram } from '../support/platform/runPlatform'
import { stopHost } from '../support/platform/stopHost'
import { useTemporaryDirectory } from '../support/platform/temporaryDirectory'
import { until } from '../support/platform/until'

const directory = useTemporaryDirectory()
const parents: ChildProcess[] = []
afterAll(() => parents.forEach((parent) => parent.kill('SIGKILL')))

/**
 * Starts a process whose parent never reaps it, as in a container whose first process is not an init. The shell would
 * reap it, so this waits until the shell has replaced itself by `sleep`.
 * @returns its pid.
 */
async function startUncollected(program: string, ...args: string[]): Promise<number> {
  const parent = spawn('sh', ['-c', '"$@" > /dev/null & echo $!; exec sleep 600', 'sh', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  parents.push(parent)
  const [said] = (await once(parent.stdout, 'data')) as [Buffer]
  await until(
    () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8'),
    (command) => command === 'sleep\n',
  )
  return Number(said)
}

const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]![0]

async function killUncollected(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  await until(
    () => stateOf(pid),
    (state) => state === 'Z',
  )
}

test('the lock of a killed process is free although the process is still a zombie', async () => {
  const lock = join(directory(), 'platform.lock')
  const pid = await startUncollected('sleep', '60')
  const startTime = startTimeOf(pid)
  writeFileSync(lock, `${pid} ${startTime}`)
  expect([takeLock(lock), lockOwner(lock)]).toEqual([undefined, pid])
  await killUncollected(pid)
  expect(lockOwner(lock)).toBeUndefined()
  expect(takeLock(lock)).toBeDefined()
  expect(lockOwner(lock)).toBe(process.pid)
})

test('the lock of an earlier process with the same pid is free', () => {
  const lock = join(directory(), 'other.lock')
  writeFileSync(lock, `${process.pid} 1`)
  expect(lockOwner(lock)).toBeUndefined()
  expect(takeLock(lock)).toBeDefined()
})

test('a new host is started after a killed host that is still a zombie', async () => {
  const records = join(directory(), 'runtime/instances')
  mkdirSync(records, { recursive: true })
  const pid = await startUncollected(
    process.execPath,
    ...childProgram('runtime/local/hostMain'),
    records,
    join(directory(), 'runtime/host.sock'),
  )
  const replicas = createReplicas(directory(), pino({ level: 'silent' }))
  await until(() => lockOwner(`${records}.lock`) === pid)
  const runtime = await openLocalRuntime({ dataDir: directory(), replicas })
  try {
    expect(await runtime.list()).toEqual([])
    await killUncollected(pid)
    await until(() =>
      runtime.list().then(
        () => true,
        () => false,
      ),
    )
    expect(lockOwner(`${records}.lock`)).not.toBe(pid)
  } finally {
    await runtime.close()
    await replicas.close()
    await stopHost(directory())
  }
})

/** Takes a lock and passes it to a child process, which holds it for a while longer. */
const HOLDER = `
  const { takeLock } = require(process.argv[1])
  const { fd } = takeLock(process.argv[2])
  require('node:child_process').spawn('sleep', ['1'], { stdio: ['ignore', 'ignore', 'ignore', fd] }).unref()
  console.log('held')
  setInterval(() => undefined, 1000)
`

test('stop:all waits until the kernel releases the lock of the ended platform', async () => {
  const dataDir = join(directory(), 'stopped')
  mkdirSync(dataDir)
  const holder = spawn(
    process.execPath,
    ['-e', HOLDER, ...childProgram('processLock'), join(dataDir, 'platform.lock')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  parents.push(holder)
  await once(holder.stdout, 'data')
  const stop = runProgram('runtime/local/stopAll', { QUARTERDECK_DATA_DIR: dataDir })
  expect([await stop.exited, stop.output()]).toEqual([
    0,
    { stdout: 'Stopping the platform …\nEverything has ended.\n', stderr: '' },
  ])
})

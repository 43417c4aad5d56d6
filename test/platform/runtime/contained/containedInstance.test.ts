import type { ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import pino from 'pino'
import { startTimeOf } from '../../../../src/platform/processLock'
import { ContainedInstance, type ContainedParts } from '../../../../src/platform/runtime/contained/containedInstance'
import type { Containers } from '../../../../src/platform/runtime/contained/containers'
import { newRunRecord, type RunRecord } from '../../../../src/platform/runtime/contained/runRecord'
import type { RunRecords } from '../../../../src/platform/runtime/runRecords'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'

const directory = useTemporaryDirectory()

const tooMany = () => Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })

let instance: ContainedInstance
/** What conmon has recorded. */
let exitCode: number | undefined
let isStarted: boolean
/** What was written to its standard input. */
let written: string[]
afterEach(() => instance.close())

/** Takes over a run whose program has printed this. Its container and its monitor are imitated. */
async function takeOver(output: string, run: Partial<RunRecord> = {}): Promise<RunRecord> {
  const logFile = join(await mkdtemp(join(directory(), 'run-')), 'lobby.log')
  writeFileSync(logFile, `2026-11-22T02:47:32.915815340+00:00 stdout F ${output}\n`)
  exitCode = undefined
  isStarted = true
  written = []
  const containers: Partial<Containers> = {
    logFile: () => logFile,
    isStarted: async () => isStarted,
    connectInput: () => {
      const stdin = new PassThrough()
      stdin.on('data', (chunk: Buffer) => written.push(chunk.toString().trim()))
      return Object.assign(new EventEmitter(), { stdin, unref: () => undefined }) as unknown as ChildProcess
    },
    exitCode: async () => exitCode,
    hasRunOutOfMemory: async () => false,
    remove: async () => void (exitCode = undefined),
  }
  const records: Partial<RunRecords<RunRecord>> = { save: () => undefined, remove: () => undefined }
  const parts: Partial<ContainedParts> = {
    containers: containers as Containers,
    records: records as RunRecords<RunRecord>,
    log: pino({ level: 'silent' }),
    onChange: () => undefined,
  }
  instance = new ContainedInstance('lobby', parts as ContainedParts)
  const record = newRunRecord(
    'lobby',
    { port: undefined, ready: 'Done', stop: { command: undefined, timeoutSeconds: 1 } },
    0,
  )
  const monitor = { pid: process.pid, startTime: startTimeOf(process.pid) }
  Object.assign(record, { containerId: 'lobby-1', monitor, ...run })
  return record
}

test('the ready line of a run is found although no file could be opened when the watch began', async () => {
  const record = await takeOver('Done')
  jest.spyOn(instance.console, 'watchLines').mockRejectedValueOnce(tooMany())
  await instance.takeOver(record)
  await until(() => record.state === 'RUNNING')
})

test('a run keeps its exit code although no file can be opened while its end is processed', async () => {
  const record = await takeOver('Failed', { state: 'RUNNING' })
  await instance.takeOver(record)
  Object.assign(record, { monitor: { pid: process.pid, startTime: 'of an ended process' } })
  exitCode = 3
  const settle = jest.spyOn(instance.console, 'settle').mockRejectedValueOnce(tooMany())
  await expect(instance.check()).rejects.toThrow('EMFILE')
  settle.mockRestore()
  await instance.check()
  expect(record).toMatchObject({ state: 'EXITED', exit: { code: 3 } })
})

test.each([
  ['not sent, if the platform ended while it started the program', true, ['stop']],
  ['sent already', false, []],
])(
  'a taken over run that is being stopped gets its stop command if that was %s: %s',
  async (_what, isDue, commands) => {
    const record = await takeOver('Done', {
      state: 'STOPPING',
      stop: { command: 'stop', timeoutSeconds: 60 },
      stopAt: Date.now(),
      ...(isDue && { isStopCommandDue: true }),
    })
    await instance.takeOver(record)
    expect(written).toEqual(commands)
    expect(record.isStopCommandDue).toBeFalsy()
  },
)

test('a taken over run that was stopped before its program was started is forgotten', async () => {
  const record = await takeOver('Done', { state: 'STOPPING', stopAt: Date.now(), isStopCommandDue: true })
  isStarted = false
  await instance.takeOver(record)
  expect(instance.record).toBeUndefined()
})

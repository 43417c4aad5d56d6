import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
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
afterEach(() => instance.close())

/** Takes over a run whose program has printed this. Its container and its monitor are imitated. */
async function takeOver(output: string, run: Partial<RunRecord> = {}): Promise<RunRecord> {
  const logFile = join(await mkdtemp(join(directory(), 'run-')), 'lobby.log')
  writeFileSync(logFile, `2026-11-22T02:47:32.915815340+00:00 stdout F ${output}\n`)
  exitCode = undefined
  const containers: Partial<Containers> = {
    logFile: () => logFile,
    isStarted: async () => true,
    exitCode: async () => exitCode,
    remove: async () => void (exitCode = undefined),
  }
  const records: Partial<RunRecords<RunRecord>> = { save: () => undefined }
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

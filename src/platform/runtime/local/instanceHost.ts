import { join } from 'node:path'
import { openRunRecords, type RunRecords } from '../runRecords'
import { describeExit, hasRestarted, RESTARTED } from '../exitMessages'
import type { ConsoleLine, InstanceExit, LocalSpec, RuntimeInstance } from '../runtime'
import { ConsoleLog } from './consoleLog'
import { PROTOCOL_VERSION, type HostCalls } from './hostProtocol'
import { removePipes } from './instancePipes'
import { HOST_ENDED, InstanceProcess } from './instanceProcess'
import { findResourceLimiter } from './resourceLimiter'
import { usageBySession } from '../processes'
import { isRunning, newRunRecord, type RunRecord } from './runRecord'

/** Time between two attempts to store a record. */
const STORE_AGAIN_MS = 1000

interface Run {
  /** Undefined for runs of an earlier host, of which only the record is known. */
  process: InstanceProcess | undefined
  record: RunRecord
}

/**
 * Owns the instances' processes and consoles, so that the platform can be restarted, upgraded or killed while they run.
 * Its directory contains the record of the last run and the log of each instance.
 */
export class InstanceHost implements Omit<HostCalls, 'follow' | 'unfollow'> {
  private readonly runs = new Map<string, Run>()
  /** Starts that check the files of their instance, by pod name. */
  private readonly starts = new Map<string, Promise<void>>()
  private readonly logs = new Map<string, ConsoleLog>()
  private readonly listeners = new Set<() => void>()
  private readonly limiter = findResourceLimiter()
  private readonly records: RunRecords<RunRecord>

  /** @param onAppended called when an instance's console has new lines. */
  constructor(
    private readonly directory: string,
    private readonly onAppended: (podName: string) => void,
  ) {
    // A full disk must not end an instance.
    this.records = openRunRecords(directory, {
      onUnwritable: (podName, error) => console.error(`The record of ${podName} could not be written:`, error),
    })
    for (const record of this.records.all()) this.takeOver(record)
    // The next host would not know a run without its record, and a second one would start beside it.
    setInterval(() => this.records.storeMissing(), STORE_AGAIN_MS).unref()
  }

  hello(): ReturnType<HostCalls['hello']> {
    return {
      version: PROTOCOL_VERSION,
      pid: process.pid,
      limits: this.limiter.description,
      enforced: this.limiter.enforced,
    }
  }

  /** A call while the instance is being started waits for the same start. */
  async start(spec: LocalSpec): Promise<void> {
    const { podName } = spec
    if (!this.isRunning(podName)) {
      const start = this.runOf(newRunRecord(spec)).start(spec)
      this.starts.set(podName, start)
      start.finally(() => this.starts.delete(podName)).catch(() => undefined)
    }
    await this.starts.get(podName)
  }

  startFailed(podName: string, failure: string, isTemporary = false): void {
    if (!this.isRunning(podName))
      this.recordFailure(
        {
          ...newRunRecord({ podName, port: undefined, stop: { command: undefined, timeoutSeconds: 0 } }),
          state: 'EXITED',
        },
        { failure, ...(isTemporary && { isTemporary }) },
      )
  }

  stop(podName: string): void {
    this.runs.get(podName)?.process?.stop()
  }

  kill(podName: string): void {
    this.runs.get(podName)?.process?.kill()
  }

  remove(podName: string): void {
    if (this.isRunning(podName)) return
    this.runs.delete(podName)
    this.logOf(podName).remove()
    this.logs.delete(podName)
    removePipes(join(this.directory, podName))
    this.records.remove(podName)
  }

  list(): RuntimeInstance[] {
    return [...this.runs.values()].map(
      ({ record: { podName, runId, state, ip, port, startedAt, exit, process: first } }) => ({
        podName,
        runId,
        state,
        ip,
        port,
        startedAt,
        exit,
        process: first,
      }),
    )
  }

  history(podName: string, lines: number): ReturnType<HostCalls['history']> {
    return this.logOf(podName).since(1, lines)
  }

  since(podName: string, seq: number): ConsoleLine[] {
    return this.logOf(podName).since(seq)
  }

  note(podName: string, text: string): void {
    const log = this.logOf(podName)
    log.note(text)
    log.flush()
  }

  /** @returns false if it does not run or its input buffer is full. */
  write(podName: string, line: string): boolean {
    return this.runs.get(podName)?.process?.write(line) ?? false
  }

  setOutputPaused(podName: string, isPaused: boolean): void {
    this.runs.get(podName)?.process?.setOutputPaused(isPaused)
  }

  sample(): ReturnType<HostCalls['sample']> {
    const usage = usageBySession()
    return [...this.runs.values()].flatMap(({ record: { podName, runId, pid } }) => {
      const used = pid === undefined ? undefined : usage.get(pid)
      return used ? [{ podName, runId, ...used }] : []
    })
  }

  async shutdown(): Promise<void> {
    for (const podName of this.runs.keys()) this.stop(podName)
    await new Promise<void>((resolve) => {
      const check = () => {
        if (this.isBusy) return
        this.listeners.delete(check)
        resolve()
      }
      this.listeners.add(check)
      check()
    })
  }

  watch(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Whether any instance runs. */
  get isBusy(): boolean {
    return [...this.runs.keys()].some((podName) => this.isRunning(podName))
  }

  private isRunning(podName: string): boolean {
    const state = this.runs.get(podName)?.record.state
    return state !== undefined && state !== 'EXITED'
  }

  private logOf(podName: string): ConsoleLog {
    const log =
      this.logs.get(podName) ?? new ConsoleLog(join(this.directory, `${podName}.log`), () => this.onAppended(podName))
    this.logs.set(podName, log)
    return log
  }

  /** Takes over the record of an earlier host. Stops its process in order if it still runs. */
  private takeOver(record: RunRecord): void {
    this.runs.set(record.podName, { process: undefined, record })
    if (record.state === 'EXITED') return
    if (isRunning(record)) return this.runOf(record).stopOrphan()
    this.limiter.release(record.podName)
    this.recordFailure(record, hasRestarted(record.scope) ? { interruption: RESTARTED } : { failure: HOST_ENDED })
  }

  private runOf(record: RunRecord): InstanceProcess {
    const { podName } = record
    const run = new InstanceProcess(record, join(this.directory, podName), this.logOf(podName), this.limiter, () =>
      this.changed(record),
    )
    this.runs.set(podName, { process: run, record })
    return run
  }

  private recordFailure(
    record: RunRecord,
    failed: Pick<Partial<InstanceExit>, 'failure' | 'isTemporary' | 'interruption'>,
  ): void {
    const exit = { code: null, signal: null, at: Date.now(), requested: false, failure: undefined, ...failed }
    Object.assign(record, { state: 'EXITED', pid: undefined, exit })
    this.runs.set(record.podName, { process: undefined, record })
    this.note(record.podName, `[System] ${describeExit(exit)}`)
    this.changed(record)
  }

  private changed(record: RunRecord): void {
    // A run may still change after the instance was started again.
    if (this.runs.get(record.podName)?.record === record) this.records.save(record)
    for (const listener of this.listeners) listener()
  }
}

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceJsonFile } from '../jsonFiles'
import type { ConsoleLine, InstanceSpec, RuntimeInstance } from '../runtime'
import { ConsoleLog } from './consoleLog'
import { PROTOCOL_VERSION, type HostCalls } from './hostProtocol'
import { removePipes } from './instancePipes'
import { HOST_ENDED, InstanceProcess } from './instanceProcess'
import { findLimiter } from './limiter'
import { usageBySession } from './processes'
import { isRunning, newRun, readRunRecords, type RunRecord } from './runRecord'

interface Run {
  /** Undefined when it was another host's: then only what that left is known. */
  process: InstanceProcess | undefined
  record: RunRecord
}

/**
 * Owns the instances' processes and their consoles, so that the platform can be restarted, upgraded or killed while
 * they run on. Its directory holds a record of the last run and a log for each instance.
 */
export class InstanceHost implements Omit<HostCalls, 'follow' | 'unfollow'> {
  private readonly runs = new Map<string, Run>()
  private readonly logs = new Map<string, ConsoleLog>()
  private readonly listeners = new Set<() => void>()
  private readonly limiter = findLimiter()

  /** @param onLines is told when an instance's console has new lines. */
  constructor(
    private readonly directory: string,
    private readonly onLines: (podName: string) => void,
  ) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const record of readRunRecords(directory)) this.adopt(record)
  }

  hello(): ReturnType<HostCalls['hello']> {
    return {
      version: PROTOCOL_VERSION,
      pid: process.pid,
      limits: this.limiter.description,
      enforced: this.limiter.enforced,
    }
  }

  start(spec: InstanceSpec): void {
    if (this.isRunning(spec.podName)) return
    this.runOf(newRun(spec)).start(spec)
  }

  startFailed(podName: string, failure: string): void {
    if (!this.isRunning(podName))
      this.ended(
        { ...newRun({ podName, port: undefined, stop: { command: undefined, timeoutSeconds: 0 } }), state: 'EXITED' },
        failure,
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
    rmSync(this.fileOf(podName, 'json'), { force: true })
  }

  list(): RuntimeInstance[] {
    return [...this.runs.values()].map(({ record: { podName, runId, state, ip, port, startedAt, exit } }) => ({
      podName,
      runId,
      state,
      ip,
      port,
      startedAt,
      exit,
    }))
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

  /** @returns false when it does not run, or has not read what was written to it before. */
  write(podName: string, line: string): boolean {
    return this.runs.get(podName)?.process?.write(line) ?? false
  }

  holdOutput(podName: string, isHeld: boolean): void {
    this.runs.get(podName)?.process?.holdOutput(isHeld)
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
    const log = this.logs.get(podName) ?? new ConsoleLog(this.fileOf(podName, 'log'), () => this.onLines(podName))
    this.logs.set(podName, log)
    return log
  }

  /** Takes over what an earlier host left: what still runs is stopped in order. */
  private adopt(record: RunRecord): void {
    this.runs.set(record.podName, { process: undefined, record })
    if (record.state === 'EXITED') return
    if (isRunning(record)) return this.runOf(record).stopLeft()
    this.limiter.release(record.podName)
    this.ended(record, HOST_ENDED)
  }

  private runOf(record: RunRecord): InstanceProcess {
    const { podName } = record
    const run = new InstanceProcess(record, join(this.directory, podName), this.logOf(podName), this.limiter, () =>
      this.changed(record),
    )
    this.runs.set(podName, { process: run, record })
    return run
  }

  private ended(record: RunRecord, failure: string): void {
    Object.assign(record, {
      state: 'EXITED',
      pid: undefined,
      exit: { code: null, signal: null, at: Date.now(), requested: false, failure },
    })
    this.runs.set(record.podName, { process: undefined, record })
    this.note(record.podName, `[System] ${failure}`)
    this.changed(record)
  }

  private changed(record: RunRecord): void {
    try {
      replaceJsonFile(this.fileOf(record.podName, 'json'), record)
    } catch (error) {
      // A full disk must not end what runs; the record on it is older for a while.
      console.error(`The record of ${record.podName} could not be written:`, error)
    }
    for (const listener of this.listeners) listener()
  }

  private fileOf(podName: string, extension: 'json' | 'log'): string {
    return join(this.directory, `${podName}.${extension}`)
  }
}

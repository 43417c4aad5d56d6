import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RuntimeInstance } from '../runtime'
import { ConsoleLog } from './consoleLog'
import { PROTOCOL_VERSION, type HostCalls } from './hostProtocol'
import { InstanceProcess, type RunRecord } from './instanceProcess'
import { startTimeOf } from '../../processLock'
import { signalGroup, usageBySession } from './processes'

interface Entry {
  log: ConsoleLog
  /** Undefined when the run was another host's: then only what it left is known. */
  process: InstanceProcess | undefined
  record: RunRecord
}

/**
 * Owns the instances' processes and their consoles, so that the platform can be restarted, upgraded or killed while
 * they run on. Its directory holds a record and a log for each instance.
 */
export class InstanceHost implements HostCalls {
  private readonly entries = new Map<string, Entry>()
  private readonly listeners = new Set<() => void>()

  constructor(private readonly directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(directory)) if (name.endsWith('.json')) this.adopt(join(directory, name))
  }

  hello(): ReturnType<HostCalls['hello']> {
    return { version: PROTOCOL_VERSION, pid: process.pid }
  }

  start(spec: Parameters<HostCalls['start']>[0]): void {
    const known = this.entries.get(spec.podName)
    if (known && known.record.state !== 'EXITED') return
    const log = known?.log ?? new ConsoleLog(this.fileOf(spec.podName, 'log'))
    const run = new InstanceProcess(spec, log, () => {
      this.save(run.record)
      for (const listener of this.listeners) listener()
    })
    this.entries.set(spec.podName, { log, process: run, record: run.record })
    run.start()
  }

  stop(podName: string): void {
    this.entries.get(podName)?.process?.stop()
  }

  kill(podName: string): void {
    this.entries.get(podName)?.process?.kill()
  }

  remove(podName: string): void {
    const entry = this.entries.get(podName)
    if (!entry || entry.record.state !== 'EXITED') return
    this.entries.delete(podName)
    entry.log.remove()
    rmSync(this.fileOf(podName, 'json'), { force: true })
  }

  list(): RuntimeInstance[] {
    return [...this.entries.values()].map(({ record: { podName, runId, state, ip, startedAt, exit } }) => ({ podName, runId, state, ip, startedAt, exit }))
  }

  history(podName: string, lines: number): ReturnType<HostCalls['history']> {
    return this.entries.get(podName)?.log.since(1, lines) ?? []
  }

  note(podName: string, text: string): void {
    const entry = this.entries.get(podName)
    entry?.log.add('message', text)
    entry?.log.flush()
  }

  write(podName: string, line: string): void {
    this.entries.get(podName)?.process?.write(line)
  }

  sample(): ReturnType<HostCalls['sample']> {
    const usage = usageBySession()
    return [...this.entries.values()].flatMap(({ record: { podName, pid } }) => {
      const used = pid === undefined ? undefined : usage.get(pid)
      return used ? [{ podName, ...used }] : []
    })
  }

  async shutdown(): Promise<void> {
    for (const podName of this.entries.keys()) this.stop(podName)
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
    return [...this.entries.values()].some(({ record }) => record.state !== 'EXITED')
  }

  /** Takes over what an earlier host left. One that died took the pipes of its instances along: they must end too. */
  private adopt(file: string): void {
    const record = JSON.parse(readFileSync(file, 'utf8')) as RunRecord
    const log = new ConsoleLog(this.fileOf(record.podName, 'log'))
    this.entries.set(record.podName, { log, process: undefined, record })
    if (record.state === 'EXITED') return
    if (record.pid !== undefined && record.pidStartTime !== '' && startTimeOf(record.pid) === record.pidStartTime) signalGroup(record.pid, 'SIGKILL')
    const failure = 'Ended because the process that hosts the instances ended.'
    Object.assign(record, { state: 'EXITED', pid: undefined, exit: { code: null, signal: null, at: Date.now(), requested: false, failure } })
    log.add('message', `[System] ${failure}`)
    log.flush()
    this.save(record)
  }

  private save(record: RunRecord): void {
    const file = this.fileOf(record.podName, 'json')
    writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }

  private fileOf(podName: string, extension: 'json' | 'log'): string {
    return join(this.directory, `${podName}.${extension}`)
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openRealDirectory, type OpenDirectory } from '../../share/jail'
import { isAlive, startTimeOf } from '../../processLock'
import { markCopy } from '../copyMarker'
import { describeExit, hasRestarted, KILL_AFTER_MS, STOPPED_BEFORE } from '../exitMessages'
import { killNamespace, pidNamespaceOf } from '../processes'
import { ReadyLine, TOO_SLOW_LINE } from '../readyLine'
import type { RunRecords } from '../runRecords'
import type { LocalSpec } from '../runtime'
import { isMonitorAlive } from './conmon'
import { exitOf, runFailureOf, type RunFailure } from './containerExit'
import { ContainerLog } from './log/containerLog'
import type { Containers } from './containers'
import { InstanceInput } from './instanceInput'
import type { PreparedContainer } from './ociConfig'
import { newRunRecord, type RunRecord } from './runRecord'
import { checkMount, requireProgram, startFailureOf, StartFailure } from './startFailures'
import { WORKING_DIRECTORY, type SystemPaths } from './systemPaths'

/** Timeout for conmon to exit after it recorded the exit code. */
const MONITOR_EXIT_TIMEOUT_MS = 5000
/** Delay before a container is removed again whose program still runs, or a log is read again for its ready line. */
const RETRY_MS = 500

export interface ContainedParts {
  containers: Containers
  records: RunRecords<RunRecord>
  system: SystemPaths
  log: Logger
  /** Prepares the directory; returns user and mounts of the container. @throws Error with a message for users */
  prepareContainer: (
    spec: LocalSpec,
    dataDirectory: OpenDirectory,
    containerId: string,
    appendLine: (text: string) => Promise<void>,
  ) => Promise<PreparedContainer>
  onChange: () => void
}

/** One instance: its console and its runs, each in its own container. */
export class ContainedInstance {
  record: RunRecord | undefined
  readonly console: ContainerLog
  private input: InstanceInput | undefined
  private timer: NodeJS.Timeout | undefined
  /** Set while a container is being created; nothing else may change the container until then. */
  private starting: Promise<void> | undefined
  private ending: Promise<void> | undefined
  private isClosed = false

  constructor(
    readonly podName: string,
    private readonly parts: ContainedParts,
  ) {
    this.console = new ContainerLog(parts.containers.logFile(podName), async () => {
      const { containerId, monitor } = this.record ?? {}
      if (containerId === undefined || monitor === undefined || !isMonitorAlive(monitor)) return false
      await parts.containers.reopenLog(containerId)
      return true
    })
  }

  private get isStopping(): boolean {
    return this.record?.state === 'STOPPING'
  }

  get isRunning(): boolean {
    return this.record !== undefined && this.record.state !== 'EXITED'
  }

  /** Starts a run unless one is active. */
  async start(spec: LocalSpec): Promise<void> {
    if (this.isRunning) return
    const record = newRunRecord(this.podName, spec, this.console.lastSeq)
    this.record = record
    this.changed()
    await this.ending
    this.starting = this.createContainer(spec, record).finally(() => {
      this.starting = undefined
      // It may have been stopped meanwhile.
      this.continueStop(record)
    })
    await this.starting
    await this.check()
  }

  /** Records a start that failed before there was a process. */
  async startFailed(spec: Pick<LocalSpec, 'port' | 'ready' | 'stop'>, failed: RunFailure): Promise<void> {
    if (this.isRunning) return
    this.record = newRunRecord(this.podName, spec, this.console.lastSeq)
    await this.recordExit(this.record, undefined, failed)
  }

  stop(): void {
    const { record } = this
    if (!record || record.state === 'EXITED' || record.state === 'STOPPING') return
    record.state = 'STOPPING'
    record.stopAt = Date.now()
    record.isStopCommandDue = true
    this.changed()
    if (!this.starting) this.continueStop(record)
  }

  kill(): void {
    const { record } = this
    if (!record || record.state === 'EXITED') return
    record.state = 'STOPPING'
    record.stopAt ??= Date.now()
    // Makes SIGKILL due immediately.
    Object.assign(record, { termAt: 0, isStopCommandDue: false })
    this.changed()
    if (!this.starting) this.continueStop(record)
  }

  /** @returns false if it does not run or its input buffer is full */
  write(line: string): boolean {
    const { record } = this
    if (!record?.containerId || record.state === 'EXITED' || this.starting) return false
    return this.inputOf(record.containerId).write(line)
  }

  /** Takes over a run of an earlier platform process. */
  async takeOver(record: RunRecord): Promise<void> {
    this.record = record
    if (record.state === 'EXITED') return
    const { containerId, monitor } = record
    const isStarting = record.state === 'STARTING' || record.isStopCommandDue
    if (
      containerId === undefined ||
      monitor === undefined ||
      (isStarting && !(await this.parts.containers.isStarted(containerId)))
    ) {
      // The platform ended while it created the container. The manager starts the instance again.
      if (containerId !== undefined) await this.removeContainer(record, containerId)
      this.record = undefined
      this.parts.records.remove(this.podName)
      return
    }
    // The platform ended just after it had started the program.
    if (record.state === 'STARTING' && record.ready === undefined) {
      record.state = 'RUNNING'
      this.changed()
    }
    await this.console.settle()
    void this.watchReady(record)
    if (record.state === 'STOPPING') this.continueStop(record)
    await this.check()
  }

  /** Detects the end of the run. */
  async check(): Promise<void> {
    const { record } = this
    if (!record?.containerId || !record.monitor || record.state === 'EXITED' || this.starting || this.ending) return
    const code = await this.parts.containers.exitCode(record.containerId)
    if (code === undefined && isMonitorAlive(record.monitor)) return
    if (this.record !== record || this.ending) return
    this.ending = this.finishRun(record, record.containerId, code).finally(() => (this.ending = undefined))
    await this.ending
  }

  /** Closes files and connections; the instance continues to run. */
  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    this.input?.release()
    await this.starting?.catch(() => undefined)
    await this.console.close()
  }

  private async createContainer(spec: LocalSpec, record: RunRecord): Promise<void> {
    const { containers, records, system, log } = this.parts
    const [program] = spec.command
    const path = spec.env.PATH ?? system.path
    const openDirectories: OpenDirectory[] = []
    // Hold the checked directories open: another instance may swap their paths in the meantime.
    const openAndKeep = async (directory: string) => {
      const opened = await openRealDirectory(directory)
      openDirectories.push(opened)
      return opened
    }
    try {
      await this.console.settle()
      record.linesBefore = this.console.lastSeq
      await requireProgram(program, spec.directory, path, system)
      const containerId = `${this.podName}-${record.runId.slice(0, 8)}`
      const dataDirectory = await openAndKeep(spec.directory)
      const prepared = await this.parts.prepareContainer(spec, dataDirectory, containerId, (text) =>
        this.console.note(`[System] ${text}`),
      )
      await markCopy(spec.copyMarker)
      if (this.isStopping) return await this.recordExit(record, undefined, { failure: STOPPED_BEFORE })
      record.containerId = containerId
      record.cgroup = prepared.cgroup?.path
      this.changed()
      const { LANG = 'C.UTF-8', TZ } = process.env
      const env = { PATH: path, LANG, HOME: '/data', ...(TZ && { TZ }), ...spec.env }
      const mounts = [{ source: dataDirectory, target: WORKING_DIRECTORY }]
      for (const { source, target } of spec.mounts ?? []) mounts.push({ source: await openAndKeep(source), target })
      const { monitor, pid } = await containers.create(containerId, this.podName, {
        ...prepared,
        readable: [...prepared.readable, ...(spec.mounts ?? [])],
        env,
        directory: dataDirectory.realPath,
        command: spec.command,
      })
      Object.assign(record, { monitor, pid, pidStartTime: startTimeOf(pid) })
      // Without the record, the next platform would not know the container, and would kill it.
      records.store(record)
      if (this.isStopping) {
        await containers.remove(containerId)
        return await this.recordExit(record, undefined, { failure: STOPPED_BEFORE })
      }
      for (const { source, target } of mounts) await checkMount(pid, source, target)
      await containers.start(containerId)
      record.startedAt = Date.now()
      if (record.ready === undefined && !this.isStopping) record.state = 'RUNNING'
      this.changed()
      void this.watchReady(record)
    } catch (error) {
      if (!(error instanceof StartFailure))
        log.error({ err: error, podName: this.podName }, 'failed to start a container')
      if (record.containerId !== undefined && !(await this.removeContainer(record, record.containerId))) return
      await this.recordExit(record, undefined, startFailureOf(error))
    } finally {
      for (const directory of openDirectories) await directory.close()
    }
  }

  /** Never rejects: begins again if the log cannot be read, for example without a free file descriptor. */
  private async watchReady(record: RunRecord): Promise<void> {
    if (record.ready === undefined) return
    const ready = new ReadyLine(record.ready)
    const isAwaited = () => record.state === 'STARTING' && this.record === record && !this.isClosed
    const watch = (texts: string[]) => {
      const match = isAwaited() && ready.matches(texts)
      if (match === false) return
      if (match === 'too slow') void this.console.note(TOO_SLOW_LINE)
      record.state = 'RUNNING'
      this.changed()
      void this.console.watchLines(0, undefined)
    }
    for (; isAwaited(); await delay(RETRY_MS)) {
      try {
        return await this.console.watchLines(record.linesBefore, watch)
      } catch (error) {
        this.parts.log.debug({ err: error, podName: this.podName }, 'failed to watch for a ready line; retrying')
      }
    }
  }

  /** Sends the stop command or signal that is due according to the record, and sets a timer for the next one. */
  private continueStop(record: RunRecord): void {
    clearTimeout(this.timer)
    if (this.record !== record || record.state !== 'STOPPING') return
    const now = Date.now()
    const { command, timeoutSeconds } = record.stop
    if (record.isStopCommandDue && record.containerId !== undefined) {
      if (command !== undefined) this.inputOf(record.containerId).write(command)
      record.isStopCommandDue = false
      this.changed()
    }
    if (record.termAt === undefined) {
      const wait = command === undefined ? 0 : remainingMs(record.stopAt ?? now, timeoutSeconds * 1000, now)
      if (wait > 0) return this.scheduleStop(record, wait)
      record.termAt = now
      this.changed()
      this.signal(record, 'TERM')
    }
    const wait = remainingMs(record.termAt, KILL_AFTER_MS, now)
    if (wait > 0) return this.scheduleStop(record, wait)
    record.isKilled = true
    this.changed()
    this.signal(record, 'KILL')
    // Checked again, because signals can fail.
    this.scheduleStop(record, KILL_AFTER_MS)
  }

  private scheduleStop(record: RunRecord, ms: number): void {
    if (!this.isClosed) this.timer = setTimeout(() => this.continueStop(record), ms)
  }

  private signal({ containerId }: RunRecord, signal: 'TERM' | 'KILL'): void {
    if (containerId === undefined) return
    this.parts.containers.signal(containerId, signal).catch((error: unknown) => {
      this.parts.log.error({ err: error, podName: this.podName, signal }, 'failed to signal an instance')
    })
  }

  private inputOf(containerId: string): InstanceInput {
    return (this.input ??= new InstanceInput(() => this.parts.containers.connectInput(containerId)))
  }

  private async finishRun(record: RunRecord, containerId: string, code: number | undefined): Promise<void> {
    const { containers } = this.parts
    // conmon exits after it has written the last output.
    for (
      const deadline = performance.now() + MONITOR_EXIT_TIMEOUT_MS;
      record.monitor && isMonitorAlive(record.monitor) && performance.now() < deadline;
      await delay(10)
    );
    const exit = code ?? (await containers.exitCode(containerId))
    const failed = runFailureOf(record, exit, await containers.hasRunOutOfMemory(containerId))
    // A program whose monitor ended first is killed with its container.
    const hasEnded =
      record.pid !== undefined && !isAlive(record.pid, record.pidStartTime ?? '') && !hasRestarted(record.scope)
    // May fail without a free file descriptor. The next check repeats it, and needs the exit code removed next.
    await this.console.finishLines()
    if (!(await this.removeContainer(record, containerId))) return
    await this.recordExit(record, exit, failed, exit !== undefined || (hasEnded && !record.isKilled))
  }

  /**
   * Removes a container, and tries until its program has ended: an instance that counts as ended is started again, and
   * two programs would write to one directory.
   * @returns false if the platform ends first
   */
  private async removeContainer({ pid, pidStartTime }: RunRecord, containerId: string): Promise<boolean> {
    const { containers, log } = this.parts
    let isLogged = false
    const mayRun = () => pid !== undefined && pidStartTime !== undefined && isAlive(pid, pidStartTime)
    while (!this.isClosed) {
      try {
        await containers.remove(containerId)
        return true
      } catch (error) {
        if (!isLogged) log.warn({ err: error, podName: this.podName }, 'failed to remove a container; retrying')
        isLogged = true
        // Without runc, which may have failed because no process could be started.
        const namespace = mayRun() && pid !== undefined ? pidNamespaceOf(pid) : undefined
        if (namespace !== undefined) killNamespace(namespace)
        if (!mayRun()) return true
      }
      await delay(RETRY_MS)
      if (!mayRun()) return true
    }
    return false
  }

  /** @param isOrderly whether a program with an unknown exit code ended in order, if it was stopped */
  private async recordExit(
    record: RunRecord,
    code: number | undefined,
    failed: RunFailure | undefined,
    isOrderly?: boolean,
  ): Promise<void> {
    clearTimeout(this.timer)
    this.input?.close()
    this.input = undefined
    await this.console.watchLines(0, undefined)
    const exit = exitOf(code, record.state === 'STOPPING', failed, isOrderly)
    if (exit.killed !== undefined) await this.console.note(`[System] ${exit.killed}`)
    await this.console.note(`[System] ${describeExit(exit)}`)
    Object.assign(record, { state: 'EXITED', exit, containerId: undefined, monitor: undefined, pid: undefined })
    this.changed()
  }

  private changed(): void {
    if (this.record) this.parts.records.save(this.record)
    this.parts.onChange()
  }
}

/** Remaining milliseconds of a wait by the wall clock; never more than `wait`, even if the clock was set back. */
function remainingMs(since: number, wait: number, now: number): number {
  return Math.min(wait, since + wait - now)
}

import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { errorCodeOf } from '../../errors'
import { isAlive, startTimeOf } from '../../processLock'
import type { OutputType, InstanceExit, LocalSpec } from '../runtime'
import { describeExit, isTemporaryCode, KILL_AFTER_MS, startFailureMessage, STOPPED_BEFORE } from '../exitMessages'
import type { ConsoleLog } from './consoleLog'
import { findStartFailure, launchIn } from './launch'
import { makePipes, openPipes, removePipes, type InstancePipes } from './instancePipes'
import type { ResourceLimiter } from './resourceLimiter'
import { LineSplitter } from '../../lineSplitter'
import { ReadyLine, TOO_SLOW_LINE } from '../readyLine'
import { signalGroup } from '../processes'
import type { RunRecord } from './runRecord'

/** How long output is read after the process has ended. */
const DRAIN_TIMEOUT_MS = 1000
/** Polling interval for the end of a process that an earlier host started. */
const POLL_INTERVAL_MS = 100
/** Maximum bytes buffered for an instance that does not read its input. */
const MAX_BUFFERED_BYTES = 2 ** 20

/** Failure of a run that outlived its host. */
export const HOST_ENDED = 'Ended because the process that hosts the instances ended.'

/** One run of one instance: a process in its own session, its output as console lines, and its end. */
export class InstanceProcess {
  private pipes: InstancePipes | undefined
  private timer: NodeJS.Timeout | undefined
  private ready: ReadyLine | undefined
  /** Number of outputs (standard output and error) that are still open. */
  private openOutputs = 0
  /** Set when the process has exited while output may still arrive. */
  private exitStatus: { code: number | null; signal: string | null } | undefined
  private pollTimer: NodeJS.Timeout | undefined
  /** Whether an earlier host started the process. */
  private isOrphaned = false
  private isKilled = false

  /** @param base absolute path that the names of its FIFOs begin with. */
  constructor(
    readonly record: RunRecord,
    private readonly base: string,
    private readonly log: ConsoleLog,
    private readonly limiter: ResourceLimiter,
    private readonly onChange: () => void,
  ) {}

  /** Starts the program. Until its directory was read, the run counts as starting and has no process. */
  async start(spec: LocalSpec): Promise<void> {
    this.ready = spec.ready === undefined ? undefined : new ReadyLine(spec.ready)
    const { PATH, LANG = 'C.UTF-8', TZ } = process.env
    const env = { PATH, LANG, HOME: spec.directory, ...(TZ && { TZ }), ...spec.env }
    const [program] = spec.command
    const failure = await findStartFailure(program, spec.directory, env.PATH ?? '')
    // A stop was requested during the check.
    if (this.record.state === 'STOPPING') return this.recordExit(null, null, STOPPED_BEFORE)
    if (failure) return this.startFailed(failure, program)
    this.spawn(spec, env)
  }

  private spawn(spec: LocalSpec, env: NodeJS.ProcessEnv): void {
    const [program] = spec.command
    let made: ReturnType<typeof makePipes>
    try {
      made = makePipes(this.base)
    } catch (error) {
      return this.recordExit(null, null, pipeFailureMessage(this.record.podName, error), true)
    }
    this.pipes = made.pipes
    let child: ChildProcess
    try {
      child = spawn(...launchIn(spec.directory, spec.command), {
        cwd: '/',
        env,
        detached: true,
        stdio: made.stdio,
        shell: false,
      })
    } catch (error) {
      // spawn throws some failures of the system call and emits others.
      return this.startFailed(errorCodeOf(error), program)
    } finally {
      made.closeStdio()
    }
    child.on('error', (error: NodeJS.ErrnoException) => this.startFailed(errorCodeOf(error), program))
    if (child.pid === undefined) return
    this.readOutputs(this.pipes)
    child.once('exit', (code, signal) => this.exited(code, signal))
    this.record.pid = child.pid
    this.record.pidStartTime = startTimeOf(child.pid)
    this.record.process = { pid: child.pid, startTime: this.record.pidStartTime }
    // Save the record at once: without it, the next host would not know the process if this host is killed.
    this.onChange()
    // Children inherit the limits. The time without limits is too short to matter.
    const problem = this.limiter.apply(child.pid, this.record.podName, spec.limits)
    if (problem) this.log.note(`[System] ${problem}`)
    if (!this.ready) this.record.state = 'RUNNING'
    this.onChange()
  }

  /**
   * Stops a process of an earlier host in order. This host cannot keep it running: it is not the parent of the process
   * and would not get its exit code.
   */
  stopOrphan(): void {
    this.isOrphaned = true
    this.log.note('[System] The process that hosts the instances ended. This instance is stopped in order.')
    this.log.flush()
    try {
      this.pipes = openPipes(this.base)
      this.readOutputs(this.pipes)
    } catch {
      // The FIFOs are missing (older version, or removed): only a signal can stop the process.
      this.record.stop = { command: undefined, timeoutSeconds: 0 }
    }
    this.pollTimer = setInterval(() => {
      if (this.record.pid !== undefined && !isAlive(this.record.pid, this.record.pidStartTime)) this.exited(null, null)
    }, POLL_INTERVAL_MS)
    this.beginStop()
  }

  get hasEnded(): boolean {
    return this.record.state === 'EXITED'
  }

  /** @returns false if the input buffer is full. */
  write(line: string): boolean {
    const input = this.pipes?.input
    if (!input?.writable || this.hasEnded || input.writableLength > MAX_BUFFERED_BYTES) return false
    input.write(`${line}\n`)
    return true
  }

  /** Pauses or resumes reading its output. While paused, the program blocks as with any slow reader. */
  setOutputPaused(isPaused: boolean): void {
    for (const stream of [this.pipes?.output, this.pipes?.errors]) {
      if (isPaused) stream?.pause()
      else stream?.resume()
    }
  }

  stop(): void {
    if (!this.hasEnded && this.record.state !== 'STOPPING') this.beginStop()
  }

  private beginStop(): void {
    this.record.state = 'STOPPING'
    this.onChange()
    const { command, timeoutSeconds } = this.record.stop ?? { command: undefined, timeoutSeconds: 0 }
    if (command === undefined) {
      this.terminate()
    } else {
      this.write(command)
      this.timer = setTimeout(() => this.terminate(), timeoutSeconds * 1000)
    }
  }

  kill(): void {
    if (this.hasEnded) return
    this.record.state = 'STOPPING'
    this.onChange()
    this.signal('SIGKILL')
  }

  private terminate(): void {
    this.signal('SIGTERM')
    this.timer = setTimeout(() => this.signal('SIGKILL'), KILL_AFTER_MS)
  }

  private signal(signal: NodeJS.Signals): void {
    // The process has exited; only its output is still being read.
    if (this.record.pid === undefined) return
    clearTimeout(this.timer)
    this.isKilled ||= signal === 'SIGKILL'
    if (signalGroup(this.record.pid, signal)) return
    this.log.note(
      `[System] ${signal} was refused: the program runs as another user. End it as that user, or run it in a container (see "Isolation" in the README).`,
    )
    this.log.flush()
  }

  private readOutputs({ output, errors }: InstancePipes): void {
    this.openOutputs = 2
    this.read(output, 'message')
    this.read(errors, 'error')
  }

  private read(stream: Socket, type: OutputType): void {
    let unchecked: string[] = []
    const lines = new LineSplitter((line) => {
      this.log.add(type, line)
      if (this.ready) unchecked.push(line)
    })
    const finish = () => {
      if (this.record.state === 'STARTING' && this.ready) this.checkReady(this.ready, unchecked)
      unchecked = []
      this.log.flush()
    }
    stream.on('data', (chunk: Buffer) => {
      lines.push(chunk)
      finish()
    })
    stream.once('close', () => {
      lines.end()
      finish()
      this.openOutputs -= 1
      if (this.exitStatus && this.openOutputs === 0)
        this.recordExit(this.exitStatus.code, this.exitStatus.signal, undefined)
    })
  }

  private exited(code: number | null, signal: string | null): void {
    clearInterval(this.pollTimer)
    // Kill remaining children, so that they close its output.
    if (this.record.pid !== undefined) signalGroup(this.record.pid, 'SIGKILL')
    // From now on, the pid may belong to another process.
    this.record.pid = undefined
    this.exitStatus = { code, signal }
    clearTimeout(this.timer)
    if (this.openOutputs === 0) return this.recordExit(code, signal, undefined)
    // A descendant in its own session may keep the output open forever: stop reading.
    this.timer = setTimeout(() => this.closePipes(), DRAIN_TIMEOUT_MS)
  }

  private closePipes(): void {
    for (const socket of [this.pipes?.input, this.pipes?.output, this.pipes?.errors]) socket?.destroy()
  }

  private checkReady(ready: ReadyLine, lines: string[]): void {
    const match = ready.matches(lines)
    if (match === false) return
    if (match === 'too slow') this.log.note(TOO_SLOW_LINE)
    this.ready = undefined
    this.record.state = 'RUNNING'
    this.onChange()
  }

  private startFailed(code: string | undefined, program: string): void {
    this.recordExit(null, null, startFailureMessage(code, program), isTemporaryCode(code))
  }

  private recordExit(
    code: number | null,
    signal: string | null,
    failure: string | undefined,
    isTemporary = false,
  ): void {
    if (this.hasEnded) return
    clearTimeout(this.timer)
    this.closePipes()
    removePipes(this.base)
    const isStopped = this.record.state === 'STOPPING'
    const exit: InstanceExit = this.isOrphaned
      ? { code, signal, at: Date.now(), requested: false, orderly: !this.isKilled, failure: HOST_ENDED }
      : {
          code,
          signal,
          at: Date.now(),
          requested: isStopped,
          orderly: (isStopped || code === 0) && !this.isKilled && failure === undefined,
          failure,
          ...(isTemporary && { isTemporary }),
        }
    Object.assign(this.record, { state: 'EXITED', exit, pid: undefined })
    this.limiter.release(this.record.podName)
    this.log.note(`[System] ${describeExit(exit)}`)
    this.log.flush()
    this.onChange()
  }
}

/** Message for users. The system's error names paths of this machine, so it goes to the host's log only. */
function pipeFailureMessage(podName: string, error: unknown): string {
  console.error(`The pipes of ${podName} could not be created:`, error)
  const code = errorCodeOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return 'Could not be started: the disk of the platform’s data directory is full.'
  if (code === 'EMFILE' || code === 'ENFILE' || code === 'EAGAIN' || code === 'ENOMEM')
    return startFailureMessage(code, 'mkfifo')
  return 'Could not be started: the pipes of its console could not be created. See the host process’s log for the reason.'
}

import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { errorCodeOf } from '../../errors'
import { isAlive, startTimeOf } from '../../processLock'
import type { OutputType, InstanceExit, InstanceSpec } from '../runtime'
import { describeExit, KILL_AFTER_MS, whyNotStarted } from '../ending'
import type { ConsoleLog } from './consoleLog'
import { makePipes, openPipes, removePipes, type InstancePipes } from './instancePipes'
import type { Limiter } from './limiter'
import { LineSplitter } from './lineSplitter'
import { ReadyLine } from './readyLine'
import { signalGroup } from './processes'
import type { RunRecord } from './runRecord'

/** How long output may go on after the end of the process that made it. In milliseconds. */
const OUTPUT_MS = 1000
/** How often it is looked whether a process has ended that an earlier host began. In milliseconds. */
const WATCH_MS = 100
/** What is kept for an instance that does not read its input. In bytes. */
const INPUT_LIMIT = 2 ** 20

/** Why a run ended that an earlier host had begun. */
export const HOST_ENDED = 'Ended because the process that hosts the instances ended.'

/** One run of one instance: a process in a session of its own, its output as console lines, and its end. */
export class InstanceProcess {
  private pipes: InstancePipes | undefined
  private timer: NodeJS.Timeout | undefined
  private ready: ReadyLine | undefined
  /** How many of its two outputs have not ended. */
  private openOutputs = 0
  /** Set when its process has ended, while its last output may still come. */
  private end: { code: number | null; signal: string | null } | undefined
  private watch: NodeJS.Timeout | undefined
  /** Whether an earlier host began it, which has ended. */
  private isLeft = false
  private isKilled = false

  /** @param base absolute path that the names of the files of its pipes begin with. */
  constructor(
    readonly record: RunRecord,
    private readonly base: string,
    private readonly log: ConsoleLog,
    private readonly limiter: Limiter,
    private readonly onChange: () => void,
  ) {}

  start(spec: InstanceSpec): void {
    this.ready = spec.ready === undefined ? undefined : new ReadyLine(spec.ready)
    const [program, ...args] = spec.command
    const { PATH, LANG = 'C.UTF-8', TZ } = process.env
    const base = { PATH, LANG, HOME: spec.directory, ...(TZ && { TZ }) }
    let made: ReturnType<typeof makePipes>
    try {
      made = makePipes(this.base)
    } catch (error) {
      return this.ended(null, null, whyNoPipes(this.record.podName, error))
    }
    this.pipes = made.pipes
    let child: ChildProcess
    try {
      child = spawn(program, args, {
        cwd: spec.directory,
        env: { ...base, ...spec.env },
        detached: true,
        stdio: made.stdio,
        shell: false,
      })
    } catch (error) {
      // Some failures of the system call are thrown, others emitted.
      return this.ended(null, null, whyNotStarted(errorCodeOf(error), program))
    } finally {
      made.closeStdio()
    }
    child.on('error', (error: NodeJS.ErrnoException) =>
      this.ended(null, null, whyNotStarted(errorCodeOf(error), program)),
    )
    if (child.pid === undefined) return
    this.readOutputs(this.pipes)
    child.once('exit', (code, signal) => this.exited(code, signal))
    this.record.pid = child.pid
    this.record.pidStartTime = startTimeOf(child.pid)
    // At once: a host that is killed before its record is written leaves a process that the next one does not know.
    this.onChange()
    // Its own children inherit them. The moment before is too short to matter.
    const problem = this.limiter.apply(child.pid, this.record.podName, spec.limits)
    if (problem) this.log.note(`[System] ${problem}`)
    if (!this.ready) this.record.state = 'RUNNING'
    this.onChange()
  }

  /**
   * Stops in order what an earlier host began, which has ended. This host cannot go on with it: it is not the parent of the process,
   * and would not learn how it ends.
   */
  stopLeft(): void {
    this.isLeft = true
    this.log.note('[System] The process that hosts the instances ended. This instance is stopped in order.')
    this.log.flush()
    try {
      this.pipes = openPipes(this.base)
      this.readOutputs(this.pipes)
    } catch {
      // Made by an older version, or somebody removed them: then a signal is all there is.
      this.record.stop = { command: undefined, timeoutSeconds: 0 }
    }
    this.watch = setInterval(() => {
      if (this.record.pid !== undefined && !isAlive(this.record.pid, this.record.pidStartTime)) this.exited(null, null)
    }, WATCH_MS)
    this.beginStop()
  }

  get isOver(): boolean {
    return this.record.state === 'EXITED'
  }

  /** @returns false when it has not read what was written before. */
  write(line: string): boolean {
    const input = this.pipes?.input
    if (!input?.writable || this.isOver || input.writableLength > INPUT_LIMIT) return false
    input.write(`${line}\n`)
    return true
  }

  /** Stops reading its output for a moment, or goes on: then it waits with printing more, as with any slow reader. */
  holdOutput(isHeld: boolean): void {
    for (const stream of [this.pipes?.output, this.pipes?.errors]) {
      if (isHeld) stream?.pause()
      else stream?.resume()
    }
  }

  stop(): void {
    if (!this.isOver && this.record.state !== 'STOPPING') this.beginStop()
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
    if (this.isOver) return
    this.record.state = 'STOPPING'
    this.onChange()
    this.signal('SIGKILL')
  }

  private terminate(): void {
    this.signal('SIGTERM')
    this.timer = setTimeout(() => this.signal('SIGKILL'), KILL_AFTER_MS)
  }

  private signal(signal: NodeJS.Signals): void {
    // It has exited, and only its output is still waited for.
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
    const lines = new LineSplitter((line) => {
      this.log.add(type, line)
      if (this.record.state === 'STARTING' && this.ready) this.checkReady(this.ready, line)
    })
    stream.on('data', (chunk: Buffer) => {
      lines.push(chunk)
      this.log.flush()
    })
    stream.once('close', () => {
      lines.end()
      this.log.flush()
      this.openOutputs -= 1
      if (this.end && this.openOutputs === 0) this.ended(this.end.code, this.end.signal, undefined)
    })
  }

  private exited(code: number | null, signal: string | null): void {
    clearInterval(this.watch)
    // Children that it left behind end with it, and let go of its output.
    if (this.record.pid !== undefined) signalGroup(this.record.pid, 'SIGKILL')
    // From now on the number may be somebody else's.
    this.record.pid = undefined
    this.end = { code, signal }
    clearTimeout(this.timer)
    if (this.openOutputs === 0) return this.ended(code, signal, undefined)
    // One in a session of its own may hold the output for ever: what it prints is not waited for.
    this.timer = setTimeout(() => this.closePipes(), OUTPUT_MS)
  }

  private closePipes(): void {
    for (const socket of [this.pipes?.input, this.pipes?.output, this.pipes?.errors]) socket?.destroy()
  }

  private checkReady(ready: ReadyLine, line: string): void {
    const answer = ready.matches(line)
    if (answer === false) return
    if (answer === 'too slow')
      this.log.note('[System] The ready expression takes too long to match. The instance counts as ready.')
    this.ready = undefined
    this.record.state = 'RUNNING'
    this.onChange()
  }

  private ended(code: number | null, signal: string | null, failure: string | undefined): void {
    if (this.isOver) return
    clearTimeout(this.timer)
    this.closePipes()
    removePipes(this.base)
    const isStopped = this.record.state === 'STOPPING'
    const exit: InstanceExit = this.isLeft
      ? { code, signal, at: Date.now(), requested: false, orderly: !this.isKilled, failure: HOST_ENDED }
      : {
          code,
          signal,
          at: Date.now(),
          requested: isStopped,
          orderly: isStopped && !this.isKilled && failure === undefined,
          failure,
        }
    Object.assign(this.record, { state: 'EXITED', exit, pid: undefined })
    this.limiter.release(this.record.podName)
    this.log.note(`[System] ${describeExit(exit)}`)
    this.log.flush()
    this.onChange()
  }
}

/** For people. What the system says of it names paths of this machine, so that is for the host's log. */
function whyNoPipes(podName: string, error: unknown): string {
  console.error(`The pipes of ${podName} could not be made:`, error)
  const code = errorCodeOf(error)
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return 'Could not be started: the disk of the platform’s data directory is full.'
  if (code === 'EMFILE' || code === 'ENFILE' || code === 'EAGAIN') return whyNotStarted(code, 'mkfifo')
  return 'Could not be started: the pipes of its console could not be made. The log of the host process says why.'
}

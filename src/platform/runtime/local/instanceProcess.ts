import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Writable } from 'node:stream'
import { errorCodeOf } from '../../errors'
import { startTimeOf } from '../../processLock'
import type { ConsoleLineType, InstanceExit, InstanceSpec, RuntimeInstance } from '../runtime'
import { describeExit, KILL_AFTER_MS, whyNotStarted } from '../ending'
import type { ConsoleLog } from './consoleLog'
import type { Limiter } from './limiter'
import { LineSplitter } from './lineSplitter'
import { ReadyLine } from './readyLine'
import { signalGroup } from './processes'

/** How long output may go on after the end of the process that made it. In milliseconds. */
const OUTPUT_MS = 1000
/** What is kept for an instance that does not read its input. In bytes. */
const INPUT_LIMIT = 2 ** 20

/** What is on disk of a run, for a host that comes after this one. */
export interface RunRecord extends RuntimeInstance {
  pid: number | undefined
  /** See startTimeOf. */
  pidStartTime: string
}

/** The record of a run that has no process yet. */
export function newRun(podName: string, port: number | undefined): RunRecord {
  return { podName, runId: randomUUID(), state: 'STARTING', ip: '127.0.0.1', port, startedAt: Date.now(), exit: undefined, pid: undefined, pidStartTime: '' }
}

/** One run of one instance: a process in a session of its own, its output as console lines, and its end. */
export class InstanceProcess {
  readonly record: RunRecord
  private child: ChildProcess | undefined
  private timer: NodeJS.Timeout | undefined
  private ready: ReadyLine | undefined

  constructor(
    private readonly spec: InstanceSpec,
    private readonly log: ConsoleLog,
    private readonly limiter: Limiter,
    private readonly onChange: () => void,
  ) {
    this.record = newRun(spec.podName, spec.port)
    this.ready = spec.ready === undefined ? undefined : new ReadyLine(spec.ready)
  }

  start(): void {
    const [program, ...args] = this.spec.command
    const { PATH, LANG = 'C.UTF-8', TZ } = process.env
    const base = { PATH, LANG, HOME: this.spec.directory, ...(TZ && { TZ }) }
    let child: ChildProcessWithoutNullStreams
    try {
      child = spawn(program, args, { cwd: this.spec.directory, env: { ...base, ...this.spec.env }, detached: true, stdio: 'pipe', shell: false })
    } catch (error) {
      // Some failures of the system call are thrown, others emitted.
      return this.ended(null, null, whyNotStarted(errorCodeOf(error), program))
    }
    child.on('error', (error: NodeJS.ErrnoException) => this.ended(null, null, whyNotStarted(errorCodeOf(error), program)))
    // Where there was no descriptor for them it has no streams, whatever the types say; 'error' tells of it in a moment.
    if (!(child.stdin as Writable | undefined)) return
    this.child = child
    this.read(child.stdout, 'message')
    this.read(child.stderr, 'error')
    // Writing to a process that has just ended is not worth a word.
    child.stdin.on('error', () => undefined)
    child.once('exit', (code, signal) => {
      // Children that it left behind end with it, and let go of its output.
      if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
      // From now on the number may be somebody else's.
      this.record.pid = undefined
      clearTimeout(this.timer)
      // One in a session of its own may hold the output for ever: what it prints is not waited for.
      this.timer = setTimeout(() => {
        child.stdout.destroy()
        child.stderr.destroy()
        this.ended(code, signal, undefined)
      }, OUTPUT_MS)
    })
    child.once('close', (code, signal) => this.ended(code, signal, undefined))
    if (child.pid === undefined) return
    this.record.pid = child.pid
    this.record.pidStartTime = startTimeOf(child.pid)
    // Its own children inherit them. The moment before is too short to matter.
    const problem = this.limiter.apply(child.pid, this.spec.podName, this.spec.limits)
    if (problem) this.log.add('message', `[System] ${problem}`)
    if (!this.ready) this.record.state = 'RUNNING'
    this.onChange()
  }

  get isOver(): boolean {
    return this.record.state === 'EXITED'
  }

  /** @returns false when it has not read what was written before. */
  write(line: string): boolean {
    const stdin = this.child?.stdin
    if (!stdin || this.isOver || stdin.writableLength > INPUT_LIMIT) return false
    stdin.write(`${line}\n`)
    return true
  }

  /** Stops reading its output for a moment, or goes on: then it waits with printing more, as with any slow reader. */
  holdOutput(isHeld: boolean): void {
    for (const stream of [this.child?.stdout, this.child?.stderr]) {
      if (isHeld) stream?.pause()
      else stream?.resume()
    }
  }

  stop(): void {
    if (this.isOver || this.record.state === 'STOPPING') return
    this.record.state = 'STOPPING'
    this.onChange()
    const { command, timeoutSeconds } = this.spec.stop
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
    if (signalGroup(this.record.pid, signal)) return
    this.log.add('message', `[System] ${signal} was refused: the program runs as another user. End it as that user, or run it in a container (see "Isolation" in the README).`)
    this.log.flush()
  }

  private read(stream: NodeJS.ReadableStream | null, type: ConsoleLineType): void {
    const lines = new LineSplitter((line) => {
      this.log.add(type, line)
      if (this.record.state === 'STARTING' && this.ready) this.checkReady(this.ready, line)
    })
    stream?.on('data', (chunk: Buffer) => {
      lines.push(chunk)
      this.log.flush()
    })
    stream?.on('end', () => {
      lines.end()
      this.log.flush()
    })
  }

  private checkReady(ready: ReadyLine, line: string): void {
    const answer = ready.matches(line)
    if (answer === false) return
    if (answer === 'too slow') this.log.add('error', '[System] The ready expression takes too long to match. The instance counts as ready.')
    this.ready = undefined
    this.record.state = 'RUNNING'
    this.onChange()
  }

  private ended(code: number | null, signal: string | null, failure: string | undefined): void {
    if (this.isOver) return
    clearTimeout(this.timer)
    const exit: InstanceExit = { code, signal, at: Date.now(), requested: this.record.state === 'STOPPING', failure }
    Object.assign(this.record, { state: 'EXITED', exit, pid: undefined })
    this.limiter.release(this.spec.podName)
    this.log.add('message', `[System] ${describeExit(exit)}`)
    this.log.flush()
    this.onChange()
  }
}

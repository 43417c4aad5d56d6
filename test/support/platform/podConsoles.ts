import { EventEmitter, once } from 'node:events'
import pino from 'pino'
import type { ConsoleStore } from '../../../src/platform/runtime/kubernetes/console/consoleStore'
import { PodConsole, type ConsoleRun } from '../../../src/platform/runtime/kubernetes/console/podConsole'
import type { LogOptions, LogRow } from '../../../src/platform/runtime/kubernetes/console/podLog'
import { createConsoleStore } from '../../../src/platform/state/deployments/consoles'
import { freshState, type FreshState } from './freshState'

/** The log of a Pod as the kubelet keeps it. Readers get what it holds, and what is printed later. */
export class PodLog {
  private readonly changes = new EventEmitter().setMaxListeners(0)
  rows: LogRow[] = []
  hasEnded = false
  /** Whether the Pod was removed with its log. */
  isGone = false
  /** Rows that a reader gets before its connection breaks. */
  breaksAfter = Infinity
  /** Rows that a reader gets before its connection ends as if that were all. */
  endsAfter = Infinity
  readers = 0
  /** Added to the times of rows, in seconds. */
  clockSkew = 0

  print(...texts: string[]): void {
    for (const text of texts) this.rows.push({ time: timeOf(this.rows.length, this.clockSkew), text })
    this.changes.emit('changed')
  }

  end(): void {
    this.hasEnded = true
    this.changes.emit('changed')
  }

  async *read({ sinceMs = -Infinity, tail = Infinity, follow, signal }: LogOptions): AsyncGenerator<LogRow[]> {
    this.readers += 1
    let at = Math.max(0, this.rows.length - tail)
    for (let sent = 0; ;) {
      const next = this.rows.slice(at, at + 100)
      const isRecent = ({ time }: LogRow) => Number(time) * 1000 >= sinceMs
      const rows = next.filter(isRecent).slice(0, Math.min(this.breaksAfter, this.endsAfter) - sent)
      if (rows.length > 0) yield rows
      at += next.length
      sent += rows.length
      if (sent >= this.breaksAfter) throw new Error('The connection broke')
      if (sent >= this.endsAfter) return
      if (next.length > 0) continue
      if (!follow || this.hasEnded) return
      await once(this.changes, 'changed', { signal })
    }
  }
}

/** Three rows have the same time, as rows that are printed at once may have. */
const timeOf = (index: number, skew = 0) =>
  `${String(1_800_000_000 + skew + Math.floor(index / 3)).padStart(12, '0')}.000000000`

/** Consoles of Pods that store their lines in a separate state. */
export function usePodConsoles() {
  let state: FreshState
  let pods = 0
  beforeAll(async () => {
    state = await freshState()
  })
  afterAll(() => state.close())

  /** A console of one run, as one replica of the platform has it. */
  function openConsole(
    podName: string,
    log: PodLog,
    closingLines: string[] = [],
    reader = 'this',
    store: ConsoleStore = createConsoleStore(state.db),
  ): PodConsole {
    const run = (): ConsoleRun => {
      const { hasEnded, isGone } = log
      return { runId: 'run-1', hasLog: !isGone, hasEnded, isLogGone: isGone, closingLines }
    }
    return new PodConsole({
      podName,
      store,
      reader,
      run,
      readLog: (options) => log.read(options),
      log: pino({ level: 'silent' }),
    })
  }

  return {
    openConsole,
    newPod: () => `console-${(pods += 1)}`,
    state: () => state,
    store: (): ConsoleStore => createConsoleStore(state.db),
  }
}

export const textsOf = async (console: PodConsole) => (await console.history(10_000)).map(({ content }) => content)
export const numbers = (count: number) => Array.from({ length: count }, (_line, at) => `line ${at}`)

import { MAX_STORED_LINES, newestStored } from '../../lineRing'
import { printedTexts } from '../../readyLine'
import type { ConsoleLine } from '../../runtime'
import type { ConsoleStore } from './consoleStore'

type Follower = (lines: ConsoleLine[]) => void
type LineWatch = (texts: string[]) => void

/**
 * The listeners of one console: a follower, and a watch for the lines that the program prints. They get the stored
 * lines in order. The calls that return promises must not overlap.
 */
export class ConsoleListeners {
  private follower: Follower | undefined
  private lineWatch: LineWatch | undefined
  /** The number of the last line that the listeners got. */
  private delivered = 0

  constructor(
    private readonly podName: string,
    private readonly store: ConsoleStore,
  ) {}

  get isEmpty(): boolean {
    return this.follower === undefined && this.lineWatch === undefined
  }

  /** Whether the listeners lack lines up to this number. */
  lack(newest: number): boolean {
    return !this.isEmpty && newest > this.delivered
  }

  /** Delivers the stored lines from a number on to a new follower, which replaces the old one. */
  async follow(since: number, follower: Follower): Promise<void> {
    await this.deliverStored()
    const kept = newestStored(await this.deliveredSince(Math.max(since, this.delivered - MAX_STORED_LINES + 1)))
    this.follower = follower
    if (kept.length > 0) follower(kept)
  }

  /** Does nothing if another follower has replaced this one. */
  unfollow(follower: Follower): void {
    if (this.follower === follower) this.follower = undefined
  }

  /** Delivers the stored lines of a run to a new watch. @param runId undefined if there is no run */
  async watch(watch: LineWatch, runId: () => string | undefined): Promise<void> {
    await this.deliverStored()
    this.lineWatch = watch
    const head = await this.store.head(this.podName)
    watch(head.runId === runId() ? printedTexts(await this.deliveredSince(head.runFirst)) : [])
  }

  endWatch(): void {
    this.lineWatch = undefined
  }

  clear(): void {
    this.follower = undefined
    this.lineWatch = undefined
  }

  /** Delivers the stored lines that the listeners lack. */
  async deliverStored(): Promise<void> {
    if (this.isEmpty) this.delivered = (await this.store.head(this.podName)).last
    else this.deliver(await this.store.lines(this.podName, this.delivered + 1))
  }

  /** Delivers lines that were just stored after the line `last`, and lines before them that another platform stored. */
  async deliverAppended(last: number, lines: Omit<ConsoleLine, 'seq'>[]): Promise<void> {
    if (this.isEmpty) return
    if (last !== this.delivered) await this.deliverStored()
    else this.deliver(lines.map((line, at) => ({ seq: last + 1 + at, ...line })))
  }

  /** Lines for a new listener. The other one lacks those after `delivered`, so they are delivered to both later. */
  private async deliveredSince(first: number): Promise<ConsoleLine[]> {
    const lines = await this.store.lines(this.podName, first)
    return lines.filter(({ seq }) => seq <= this.delivered)
  }

  private deliver(lines: ConsoleLine[]): void {
    const last = lines.at(-1)
    if (!last) return
    this.delivered = last.seq
    this.lineWatch?.(printedTexts(lines))
    this.follower?.(lines)
  }
}

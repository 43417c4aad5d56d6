import type { ConsoleFrame } from '../../contract/sockets/consoleChannel'
import { LineRing } from '../runtime/lineRing'
import type { ConsoleLine, Runtime } from '../runtime/runtime'

/** Lines within this time share a frame (decisions §6), unless there are many. */
const FLUSH_MS = 50
const FLUSH_LINES = 100
/** Shared by all viewers. More than an instance's console keeps, so that slow viewers of a fast process miss less. */
const FEED_LINES = 20_000
/** Size of the ring in bytes of UTF-8. */
const FEED_BYTES = 4 * 2 ** 20
/** In UTF-16 code units. Splits a long history into several frames. */
const FRAME_LIMIT = 64 * 1024
/** How long frames are kept for further viewers. */
const FRAMES_KEPT_MS = 1000
/** In UTF-16 code units: the frames of a full ring. */
const KEPT_FRAMES_LIMIT = 5 * 2 ** 20
/** In bytes. Backpressure: a viewer with this much unsent data must wait. With its last frame it stays under 1 MiB. */
const MAX_UNSENT_BYTES = 512 * 1024

/** The used part of a viewer's connection (`ws`). */
export interface Outlet {
  /** Bytes that the network has not taken yet. */
  readonly bufferedAmount: number
  /** `onSent` is called when the frame was handed to the network. */
  send(text: string, onSent: () => void): void
}

/** A viewer's position in the feed. It has no queue: it reads from the ring as fast as its network allows. */
class Viewer {
  /** @param next the number of its next line */
  constructor(
    readonly outlet: Outlet,
    public next: number,
  ) {}
}

/**
 * The console of one instance for all its viewers, who share one ring of lines. A viewer that is too slow misses lines,
 * and receives their number. It never delays other viewers or the instance.
 */
export class ConsoleFeed {
  private readonly ring = new LineRing(FEED_LINES, FEED_BYTES)
  private unflushed = 0
  private readonly viewers = new Set<Viewer>()
  private readonly stateViewers = new Set<Outlet>()
  /** Frames by first line, shared by viewers: those of one flush, and those that request the history together. */
  private readonly frames = new Map<number, { text: string; next: number }>()
  private framesLength = 0
  private framesTimer: NodeJS.Timeout | undefined
  private timer: NodeJS.Timeout | undefined
  private flushedAt = 0
  private unfollow: (() => void) | undefined
  /** Resolves when the stored lines were read. */
  readonly ready: Promise<void>

  constructor(runtime: Pick<Runtime, 'follow'>, podName: string) {
    this.ready = runtime
      .follow(podName, 1, (lines) => this.add(lines))
      .then((unfollow) => {
        this.unfollow = unfollow
      })
  }

  /**
   * Adds a viewer. Call it after `ready`.
   * @param since the first line to send; without it, or if it is unknown, the last `history` lines
   * @returns a function that removes the viewer
   */
  attach(outlet: Outlet, since: number | undefined, history: number): () => void {
    const { newestSeq: last, oldestSeq: oldest } = this.ring
    const isKnown = since !== undefined && since <= last + 1
    const viewer = new Viewer(outlet, isKnown ? since : Math.max(oldest, last - history + 1))
    this.viewers.add(viewer)
    this.serve(viewer)
    return () => this.viewers.delete(viewer)
  }

  /** Adds a viewer that receives only broadcast frames. @returns a function that removes the viewer */
  attachForStates(outlet: Outlet): () => void {
    this.stateViewers.add(outlet)
    return () => this.stateViewers.delete(outlet)
  }

  /** Sends a frame that is not a line to every viewer. */
  broadcast(frame: ConsoleFrame): void {
    const text = JSON.stringify(frame)
    const outlets = [...[...this.viewers].map(({ outlet }) => outlet), ...this.stateViewers]
    for (const outlet of outlets) outlet.send(text, () => undefined)
  }

  close(): void {
    clearTimeout(this.timer)
    this.forgetFrames()
    this.unfollow?.()
  }

  private add(lines: ConsoleLine[]): void {
    for (const line of lines) this.ring.add(line)
    // The last frame would lack these lines.
    this.forgetFrames()
    this.unflushed += lines.length
    if (this.unflushed >= FLUSH_LINES) this.flush()
    else this.timer ??= setTimeout(() => this.flush(), Math.max(0, this.flushedAt + FLUSH_MS - performance.now()))
  }

  private flush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.unflushed = 0
    this.flushedAt = performance.now()
    for (const viewer of this.viewers) this.serve(viewer)
  }

  private forgetFrames(): void {
    clearTimeout(this.framesTimer)
    this.framesTimer = undefined
    this.framesLength = 0
    this.frames.clear()
  }

  private serve(viewer: Viewer): void {
    const { outlet } = viewer
    while (viewer.next <= this.ring.newestSeq && outlet.bufferedAmount < MAX_UNSENT_BYTES) {
      const missed = this.ring.oldestSeq - viewer.next
      if (missed > 0) {
        viewer.next = this.ring.oldestSeq
        const content = `[System] ${missed} ${missed === 1 ? 'line' : 'lines'} skipped`
        const frame: ConsoleFrame = { type: 'system', content }
        outlet.send(JSON.stringify(frame), () => undefined)
      }
      const { text, next } = this.frameAt(viewer.next)
      viewer.next = next
      outlet.send(text, () => {
        if (this.viewers.has(viewer) && viewer.next <= this.ring.newestSeq && this.timer === undefined)
          this.serve(viewer)
      })
    }
  }

  /** As many lines of one type as fit in a frame. */
  private frameAt(seq: number): { text: string; next: number } {
    const known = this.frames.get(seq)
    if (known) return known
    const first = this.ring.at(seq)
    const contents: string[] = []
    let size = 0
    let next = seq
    for (let line = first; line && line.type === first?.type && size < FRAME_LIMIT; line = this.ring.at(next)) {
      contents.push(line.content)
      size += line.content.length + 1
      next += 1
    }
    const frame: ConsoleFrame = { type: first?.type ?? 'message', content: contents.join('\n'), seq }
    const made = { text: JSON.stringify(frame), next }
    // Viewers that begin at different lines have different frames.
    if (this.framesLength + made.text.length > KEPT_FRAMES_LIMIT) this.forgetFrames()
    this.frames.set(seq, made)
    this.framesLength += made.text.length
    this.framesTimer ??= setTimeout(() => this.forgetFrames(), FRAMES_KEPT_MS)
    return made
  }
}

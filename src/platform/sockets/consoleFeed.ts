import type { ConsoleFrame } from '../../contract/consoleChannel'
import { LineRing } from '../runtime/lineRing'
import type { ConsoleLine, Runtime } from '../runtime/runtime'

/** Lines that come closer together than this go in one frame (decisions §6), unless there are many. In milliseconds. */
const FLUSH_MS = 50
const FLUSH_LINES = 100
/** A fast process prints more than an instance's console keeps while a viewer takes a breath. Shared by all viewers. */
const FEED_LINES = 20_000
/** In bytes of UTF-8. */
const FEED_SIZE = 4 * 2 ** 20
/** A frame is ended by its size, so that a long history does not come in one piece. In UTF-16 units. */
const FRAME_LIMIT = 64 * 1024
/** With this much not yet taken by its network, a viewer gets no more for now: with the last frame under 1 MiB. In bytes. */
const HELD_LIMIT = 512 * 1024

/** A way to one viewer, as `ws` has it. */
export interface Outlet {
  /** Bytes that were given to it and not yet taken by the network. */
  readonly bufferedAmount: number
  /** Calls back when the frame was taken. */
  send(text: string, taken: () => void): void
}

/** One viewer of a feed. Nothing is queued for it: it reads on from where it stands, as fast as its network takes it. */
class Viewer {
  /** @param next number of the line that it has not seen. */
  constructor(
    readonly outlet: Outlet,
    public next: number,
  ) {}
}

/**
 * The console of one instance for all its viewers: their frames are made from one ring of lines. A viewer that cannot
 * keep up falls behind until its lines are gone, and is told how many it missed; the others, and the instance, never wait.
 */
export class ConsoleFeed {
  private readonly ring = new LineRing(FEED_LINES, FEED_SIZE)
  private unflushed = 0
  private readonly viewers = new Set<Viewer>()
  /** Of one round of serving: made once for all who stand at the same line. */
  private readonly frames = new Map<number, { text: string; next: number }>()
  private timer: NodeJS.Timeout | undefined
  private flushedAt = 0
  private unfollow: (() => void) | undefined
  /** Resolves when the kept lines are here. */
  readonly ready: Promise<void>

  constructor(runtime: Pick<Runtime, 'follow'>, podName: string) {
    this.ready = runtime
      .follow(podName, 1, (lines) => this.add(lines))
      .then((unfollow) => {
        this.unfollow = unfollow
      })
  }

  /**
   * Begins to serve a viewer, which must be done after `ready`.
   * @param since the first line it wants; without it, or where that never was, the last `history` lines.
   * @returns a function that ends it.
   */
  attach(outlet: Outlet, since: number | undefined, history: number): () => void {
    const { last, oldest } = this.ring
    const isKnown = since !== undefined && since <= last + 1
    const viewer = new Viewer(outlet, isKnown ? since : Math.max(oldest, last - history + 1))
    this.viewers.add(viewer)
    this.serve(viewer)
    this.frames.clear()
    return () => this.viewers.delete(viewer)
  }

  /** Sends a frame that is no line to every viewer. */
  tell(frame: ConsoleFrame): void {
    const text = JSON.stringify(frame)
    for (const { outlet } of this.viewers) outlet.send(text, () => undefined)
  }

  close(): void {
    clearTimeout(this.timer)
    this.unfollow?.()
  }

  private add(lines: ConsoleLine[]): void {
    for (const line of lines) this.ring.add(line)
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
    this.frames.clear()
  }

  private serve(viewer: Viewer): void {
    const { outlet } = viewer
    while (viewer.next <= this.ring.last && outlet.bufferedAmount < HELD_LIMIT) {
      const missed = this.ring.oldest - viewer.next
      if (missed > 0) {
        viewer.next = this.ring.oldest
        const frame: ConsoleFrame = { type: 'system', content: `[System] ${missed} lines skipped` }
        outlet.send(JSON.stringify(frame), () => undefined)
      }
      const { text, next } = this.frameAt(viewer.next)
      viewer.next = next
      outlet.send(text, () => {
        if (this.viewers.has(viewer) && viewer.next <= this.ring.last && this.timer === undefined) {
          this.serve(viewer)
          this.frames.clear()
        }
      })
    }
  }

  /** Lines of one type, as many as a frame takes. */
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
    this.frames.set(seq, made)
    return made
  }
}

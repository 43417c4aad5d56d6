import type { ActionLog, LoggedAction } from '../../../contract/actionLog'

export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16] as const

/**
 * `index` is the last applied action, or -1 before the first one. `at` is the time in the recording in milliseconds.
 */
export type Playback = { index: number; at: number; isPlaying: boolean; speed: number }
export type PlaybackEvent =
  | { type: 'toggled' }
  | { type: 'jumped'; index: number }
  | { type: 'stepped'; by: 1 | -1 }
  | { type: 'speedChosen'; speed: number }
  /** `elapsed` is real time in milliseconds. */
  | { type: 'elapsed'; elapsed: number }

export const beginning: Playback = { index: -1, at: 0, isPlaying: false, speed: 1 }

export function playbackReducer({ actions }: ActionLog) {
  const last = actions.length - 1
  const timeOf = (index: number) => actions[index]?.at ?? 0
  const jump = (playback: Playback, to: number): Playback => {
    const index = Math.max(-1, Math.min(last, to))
    return { ...playback, index, at: timeOf(index) }
  }
  return (playback: Playback, event: PlaybackEvent): Playback => {
    switch (event.type) {
      case 'toggled':
        // At the end, Play starts again from the first action.
        return playback.isPlaying || playback.index < last
          ? { ...playback, isPlaying: !playback.isPlaying }
          : { ...jump(playback, -1), isPlaying: true }
      case 'jumped':
        return jump(playback, event.index)
      case 'stepped':
        return { ...jump(playback, playback.index + event.by), isPlaying: false }
      case 'speedChosen':
        return { ...playback, speed: event.speed }
      case 'elapsed': {
        const at = playback.at + event.elapsed * playback.speed
        let { index } = playback
        while (index < last && timeOf(index + 1) <= at) index += 1
        return { ...playback, index, at, isPlaying: index < last }
      }
    }
  }
}

/** Returns the mark of an action on the timeline: a failure or a navigation. */
export function markOf({ type, meta, payload }: LoggedAction): 'failure' | 'navigation' | undefined {
  if (type === 'route/changed') return 'navigation'
  const { condition, aborted } = (meta ?? {}) as { condition?: boolean; aborted?: boolean }
  if (type.endsWith('/rejected') && !condition && !aborted) return 'failure'
  if (type === 'notifications/notified' && (payload as { type?: unknown } | undefined)?.type === 'danger')
    return 'failure'
  return undefined
}

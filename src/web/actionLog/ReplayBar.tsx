import type { CSSProperties, Dispatch } from 'react'
import { useMemo } from 'react'
import type { ActionLog } from '../../contract/actionLog'
import { Glyph } from '../ui/Glyph'
import { CONTROLS } from './replay/followReplay'
import type { Playback, PlaybackEvent } from './replay/playback'
import { markOf, SPEEDS } from './replay/playback'
import styles from './replay.module.scss'

const paths = {
  back: 'M17 5.5 8.5 12l8.5 6.5Zm-10 0v13',
  forward: 'm7 5.5 8.5 6.5L7 18.5Zm10 0v13',
  play: 'M7 4.5 19 12 7 19.5Z',
  pause: 'M8.5 5v14m7-14v14',
  list: 'M8.5 6H20M8.5 12H20M8.5 18H20M4 6h.1M4 12h.1M4 18h.1',
  close: 'm6 6 12 12M18 6 6 18',
} as const

type ReplayBarProps = {
  log: ActionLog
  playback: Playback
  findings: string[]
  isListOpen: boolean
  onEvent: Dispatch<PlaybackEvent>
  onToggleList: () => void
  onClose: () => void
  onLeave: () => void
}

export function ReplayBar({
  log,
  playback,
  findings,
  isListOpen,
  onEvent,
  onToggleList,
  onClose,
  onLeave,
}: ReplayBarProps) {
  const { index, at, isPlaying, speed } = playback
  const { actions, startedAt, viewport } = log
  const marks = useMemo(
    () =>
      actions
        .flatMap((action, position) => ({ mark: markOf(action), position, type: action.type }))
        .filter(({ mark }) => mark !== undefined),
    [actions],
  )
  const action = actions[index]
  const last = actions.length - 1
  const tool = (label: string, icon: keyof typeof paths, onClick: () => void, isOff = false) => (
    <button
      type="button"
      className={styles.tool}
      aria-label={label}
      title={label}
      // Not disabled, because a disabled button loses the focus.
      aria-disabled={isOff}
      onClick={() => isOff || onClick()}
    >
      <Glyph path={paths[icon]} size={18} />
    </button>
  )

  return (
    <section className={styles.bar} aria-label="Replay" {...{ [CONTROLS]: '' }} data-bs-theme="dark">
      {findings.length > 0 && (
        <p className={styles.warning} role="status">
          {findings.join(' ')}
        </p>
      )}
      <div className={styles.tools}>
        {tool('Step back', 'back', () => onEvent({ type: 'stepped', by: -1 }), index < 0)}
        {tool(isPlaying ? 'Pause' : 'Play', isPlaying ? 'pause' : 'play', () => onEvent({ type: 'toggled' }), last < 0)}
        {tool('Step forward', 'forward', () => onEvent({ type: 'stepped', by: 1 }), index >= last)}
        <select
          aria-label="Speed"
          value={speed}
          onChange={({ target }) => onEvent({ type: 'speedChosen', speed: Number(target.value) })}
        >
          {SPEEDS.map((choice) => (
            <option key={choice} value={choice}>
              {choice === 0.25 ? '¼' : choice === 0.5 ? '½' : choice}×
            </option>
          ))}
        </select>
        <div className={styles.track} style={{ '--last': Math.max(1, last + 1) } as CSSProperties}>
          <input
            type="range"
            aria-label="Position"
            aria-valuetext={action ? `Action ${index + 1} of ${last + 1}: ${action.type}` : 'Before the first action'}
            min={-1}
            max={last}
            value={index}
            onChange={({ target }) => onEvent({ type: 'jumped', index: Number(target.value) })}
          />
          <span className={styles.marks} aria-hidden="true">
            {marks.map(({ mark, position, type }) => (
              <span
                key={position}
                className={`${styles.mark} ${mark ? styles[mark] : ''}`}
                title={type}
                style={{ '--at': position + 1 } as CSSProperties}
              />
            ))}
          </span>
        </div>
        {tool(isListOpen ? 'Hide actions' : 'Show actions', 'list', onToggleList)}
        {tool('Another file', 'close', onClose)}
        <button type="button" className={styles.leave} onClick={onLeave}>
          Leave
        </button>
      </div>
      <p className={styles.now}>
        <span>
          {index + 1} of {last + 1}
        </span>
        <span className={styles.type}>{action?.type ?? 'Before the first action'}</span>
        <time dateTime={new Date(startedAt + at).toISOString()}>{new Date(startedAt + at).toLocaleString()}</time>
        <span>
          {viewport.width} × {viewport.height}
        </span>
      </p>
    </section>
  )
}

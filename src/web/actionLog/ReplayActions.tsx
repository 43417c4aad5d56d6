import { useEffect, useMemo, useRef, useState } from 'react'
import type { ActionLog } from '../../contract/actionLog'
import type { Replay } from './replay/checkLog'
import { differences, shortText } from './replay/diff'
import { CONTROLS } from './replay/followReplay'
import { markOf } from './replay/playback'
import styles from './replay.module.scss'

type ReplayActionsProps = { log: ActionLog; replay: Replay; index: number; onJump: (index: number) => void }

/** Lists all actions. The current action also shows the state changes that it made. */
export function ReplayActions({ log, replay, index, onJump }: ReplayActionsProps) {
  const [query, setQuery] = useState('')
  const current = useRef<HTMLLIElement>(null)
  const rows = useMemo(
    () =>
      log.actions.map((action) => ({
        ...action,
        mark: markOf(action),
        text: action.payload === undefined ? '' : shortText(action.payload, 200),
      })),
    [log],
  )
  const wanted = query.trim().toLowerCase()
  const odd = useMemo(() => new Set(replay.deviations.map((deviation) => deviation.index)), [replay])

  useEffect(() => {
    current.current?.scrollIntoView({ block: 'nearest' })
  }, [index, query])

  return (
    <aside className={styles.list} aria-label="Actions" {...{ [CONTROLS]: '' }} data-bs-theme="dark">
      <input
        type="search"
        className="form-control"
        aria-label="Search actions"
        placeholder="Search actions"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
      />
      <ol>
        {rows.map(({ at, type, mark, text }, position) => {
          if (wanted !== '' && !`${type} ${text}`.toLowerCase().includes(wanted)) return null
          const isCurrent = position === index
          return (
            <li key={position} ref={isCurrent ? current : undefined} className={isCurrent ? styles.current : undefined}>
              <button type="button" aria-current={isCurrent || undefined} onClick={() => onJump(position)}>
                <span className={styles.at}>{(at / 1000).toFixed(1)} s</span>
                <span className={`${styles.action} ${mark ? styles[mark] : ''} ${odd.has(position) ? styles.odd : ''}`}>
                  {type}
                </span>
                <span className={styles.payload}>{text}</span>
              </button>
              {isCurrent && <Changes replay={replay} index={index} />}
            </li>
          )
        })}
      </ol>
    </aside>
  )
}

function Changes({ replay: { base, steps }, index }: { replay: Replay; index: number }) {
  const changes = useMemo(
    () => differences((index === 0 ? base : steps[index - 1]?.state) ?? base, steps[index]?.state ?? base),
    [base, steps, index],
  )
  if (changes.length === 0) return <p className={styles.changes}>Changes nothing</p>
  return (
    <dl className={styles.changes}>
      {changes.map(({ path, before, after }) => (
        <div key={path}>
          <dt>{path}</dt>
          <dd>
            <del>{shortText(before)}</del> <ins>{shortText(after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}

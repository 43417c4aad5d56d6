import { useEffect, useId, useRef } from 'react'
import { useDispatch } from 'react-redux'
import type { DatabaseType } from '../../../contract/database'
import type { ListedDatabase } from '../../api/databases'
import { useAppSelector } from '../../app/hooks'
import { ActionIcon } from '../../ui/ActionIcon'
import { counted } from '../../ui/counted'
import { formatBytes } from '../../ui/formatBytes'
import { Icon } from '../../ui/Icon'
import { DatabasePanel } from './panel/DatabasePanel'
import {
  cardToggled,
  deletionRequested,
  passwordResetRequested,
  selectIsExpanded,
  selectIsShown,
} from './databasesSlice'
import { appearances } from './databaseType'
import styles from './databaseCard.module.scss'

export function DatabaseCard({ type, database }: { type: DatabaseType; database: ListedDatabase }) {
  const { name, size, tables } = database
  const named = { type, name }
  const expanded = useAppSelector((state) => selectIsExpanded(state, named))
  const isShown = useAppSelector((state) => selectIsShown(state, named))
  const card = useRef<HTMLElement>(null)
  const toggle = useRef<HTMLButtonElement>(null)
  const dispatch = useDispatch()
  const id = useId()
  const { label, noun, uncounted } = appearances[type]

  // After a creation or a password reset, the focus and the view move to this card.
  useEffect(() => {
    if (!isShown || !card.current) return
    if (!card.current.contains(document.activeElement)) toggle.current?.focus({ preventScroll: true })
    card.current.scrollIntoView({ block: 'nearest' })
    // On a small screen the open card may be higher than the window; then its head must be visible.
    toggle.current?.scrollIntoView({ block: 'nearest' })
  }, [isShown])

  return (
    <article ref={card} className={styles.card} aria-label={name}>
      <div className={styles.head}>
        <h3>
          <button
            data-row
            ref={toggle}
            type="button"
            className={styles.toggle}
            aria-expanded={expanded}
            aria-controls={expanded ? id : undefined}
            onClick={() => dispatch(cardToggled(named))}
          >
            <Icon name="chevron" />
            <span className={styles.name}>{name}</span>
          </button>
        </h3>
        <p className={styles.facts}>
          <span className={styles.type}>{label}</span>
          <span>{size === undefined ? 'Size unknown' : formatBytes(size)}</span>
          <span>{tables === undefined ? uncounted : counted(tables, noun)}</span>
        </p>
        <div className={styles.actions}>
          <button
            type="button"
            className={styles.action}
            aria-label={`Reset password of ${name}`}
            title="Reset password"
            onClick={() => dispatch(passwordResetRequested(named))}
          >
            <ActionIcon name="key" />
          </button>
          <button
            type="button"
            className={`${styles.action} ${styles.danger}`}
            aria-label={`Delete ${name}`}
            title="Delete"
            onClick={() => dispatch(deletionRequested(named))}
          >
            <ActionIcon name="trash" />
          </button>
        </div>
      </div>
      {expanded && <DatabasePanel id={id} type={type} database={database} />}
    </article>
  )
}

import { useEffect, useId, useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import type { DatabaseType } from '../../../contract/database'
import type { ListedDatabase } from '../../api/databases'
import { failureDetail, isNotConfigured } from '../../failure'
import { ActionIcon } from '../../ui/ActionIcon'
import { counted } from '../../ui/counted'
import { EmptyState } from '../../ui/EmptyState'
import { formatBytes } from '../../ui/formatBytes'
import { LoadFailure } from '../../ui/LoadFailure'
import { DatabaseCard } from './DatabaseCard'
import { creationStarted, selectDialog } from './databasesSlice'
import { DatabasesSkeleton } from './DatabasesSkeleton'
import { appearances } from './databaseType'
import { SectionUnavailable } from './SectionUnavailable'
import styles from './databases.module.scss'

type DatabasesSectionProps = {
  type: DatabaseType
  query: { data?: ListedDatabase[]; error?: unknown; isFetching: boolean; refetch: () => unknown }
  filter: string
}

/** Each section loads and fails on its own: one database server may be down while the other works. */
export function DatabasesSection({ type, query: { data, error, isFetching, refetch }, filter }: DatabasesSectionProps) {
  const { label, section } = appearances[type]
  const createButton = useRef<HTMLButtonElement>(null)
  const dispatch = useDispatch()
  const id = useId()
  useFocusAfterDeletion(data?.length ?? 0, createButton)

  const isMissing = isNotConfigured(error)
  const found = data
    ?.filter(({ name }) => name.toLowerCase().includes(filter.trim().toLowerCase()))
    .sort((a, b) => a.name.localeCompare(b.name))

  return (
    <section className={styles.section} aria-labelledby={id}>
      <div className={styles.sectionHead}>
        <div>
          <h2 id={id}>{section}</h2>
          {data && data.length > 0 && <p>{summaryOf(data)}</p>}
        </div>
        <Button
          ref={createButton}
          variant="outline-secondary"
          className="with-icon"
          aria-disabled={isMissing}
          aria-describedby={isMissing ? `${id}-missing` : undefined}
          onClick={() => !isMissing && dispatch(creationStarted(type))}
        >
          <ActionIcon name="plus" />
          <span>
            Create<span className="visually-hidden"> {label} database</span>
          </span>
        </Button>
      </div>
      {isMissing && (
        <SectionUnavailable id={`${id}-missing`} section={section} error={error} busy={isFetching} onRetry={refetch} />
      )}
      {Boolean(error) && !isMissing && (
        <LoadFailure
          title="Failed to load databases"
          as="h3"
          detail={failureDetail(error)}
          hint={data?.length ? 'Showing the last known state.' : undefined}
          busy={isFetching}
          onRetry={refetch}
        />
      )}
      {!data && !error && <DatabasesSkeleton section={section} />}
      {data?.length === 0 && !error && (
        <EmptyState action={<small>Create one, and its name, user and password are shown here.</small>}>
          No {label} databases yet
        </EmptyState>
      )}
      {data && data.length > 0 && found?.length === 0 && (
        <EmptyState>
          No {label} database has &quot;{filter.trim()}&quot; in its name
        </EmptyState>
      )}
      {found && found.length > 0 && (
        <ul className={`${styles.list} panel`}>
          {found.map((database) => (
            <li key={database.name}>
              <DatabaseCard type={type} database={database} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Omits the total if the server does not know every size. */
function summaryOf(databases: readonly ListedDatabase[]) {
  const count = counted(databases.length, 'database')
  const size = databases.reduce((sum, database) => sum + (database.size ?? NaN), 0)
  return Number.isFinite(size) ? `${count} · ${formatBytes(size)}` : count
}

/** After a deletion the focused button is gone with its card, so the section's create button gets the focus. */
function useFocusAfterDeletion(count: number, target: { current: HTMLButtonElement | null }) {
  const hasDialog = useSelector(selectDialog) !== null
  const before = useRef(count)
  useEffect(() => {
    if (hasDialog) return
    if (count < before.current && document.activeElement === document.body)
      target.current?.focus({ preventScroll: true })
    before.current = count
  }, [count, hasDialog, target])
}

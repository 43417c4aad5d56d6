import type { Overview } from '../../api/network'
import { counted } from '../../ui/counted'
import { TimeAgo } from '../../ui/TimeAgo'

/** What is running. `since` is when that was known, for data that could not be loaded again since; in milliseconds since the epoch. */
export function OverviewSummary({ overview, since }: { overview: Overview | undefined; since: number | undefined }) {
  if (!overview) return <p className="page-summary" />
  const instances = overview.sections.flatMap((section) => section.instances)
  const online = instances.filter(({ state }) => state === 'RUNNING').length
  return (
    <p className="page-summary">
      {counted(overview.sections.length, 'deployment')} · {counted(instances.length, 'instance')} · {online} online
      {since !== undefined && (
        <>
          {' · '}
          <span className="as-of">
            last known <TimeAgo time={since} />
          </span>
        </>
      )}
    </p>
  )
}

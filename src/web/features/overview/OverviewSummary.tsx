import { failureHint, failureText } from '../../api/failure'
import type { Overview } from '../../api/network'
import { counted } from '../../ui/counted'

type OverviewSummaryProps = { overview: Overview | undefined; error: unknown; since: number | undefined }

/** One line that is always there, so that bad news moves nothing: what is running, or why it may be out of date. */
export function OverviewSummary({ overview, error, since }: OverviewSummaryProps) {
  if (!overview) return <p className="page-summary" />
  if (error) {
    const time = new Date(since ?? 0).toLocaleTimeString()
    return (
      <p className="page-summary failed" role="alert">
        {[failureText(error, 'Failed to fetch network data'), failureHint(error)].filter(Boolean).join('. ')} Showing what was
        known at {time}.
      </p>
    )
  }
  const instances = overview.sections.flatMap((section) => section.instances)
  const online = instances.filter(({ state }) => state === 'RUNNING').length
  return (
    <p className="page-summary">
      {counted(overview.sections.length, 'deployment')} · {counted(instances.length, 'instance')} · {online} online
    </p>
  )
}

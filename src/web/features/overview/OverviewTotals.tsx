import type { ReactNode } from 'react'
import type { OverviewSection } from '../../api/network'
import { rounded, totalsOf } from './totals'
import styles from './overview.module.scss'

type OverviewTotalsProps = {
  sections: readonly OverviewSection[]
  /** One line where there is room. */
  isCompact: boolean
}

/** Four figures of the whole network. */
export function OverviewTotals({ sections, isCompact }: OverviewTotalsProps) {
  const { instances, online, players, isPartial, cpu, busiest, memory } = totalsOf(sections)
  return (
    <dl className={`${styles.totals} ${isCompact ? styles.compactTotals : ''} panel`}>
      <Total label="Instances online" value={online} aside={`of ${instances}`} />
      <Total
        label="Players"
        value={players}
        aside={isPartial ? 'or more' : undefined}
        title={isPartial ? 'Some servers do not report their number of players' : undefined}
      />
      <Total
        label="CPU, average"
        value={cpu === undefined ? '–' : `${rounded(cpu, 1)} %`}
        aside={busiest && online > 1 ? `highest ${rounded(busiest.cpu, 1)} %` : undefined}
        title={busiest && `Of each instance's limit. Highest: ${busiest.name}`}
      />
      <Total
        label="Memory"
        value={online > 0 ? rounded(memory.used, 2) : '–'}
        aside={online > 0 && (memory.total === undefined ? 'GiB' : `of ${rounded(memory.total, 2)} GiB`)}
        title={memory.total === undefined ? 'Some instances have no limit' : undefined}
      />
    </dl>
  )
}

type TotalProps = {
  label: string
  value: ReactNode
  aside?: string | false | undefined
  title?: string | undefined
}

function Total({ label, value, aside, title }: TotalProps) {
  return (
    <div title={title}>
      <dt>{label}</dt>
      <dd>
        <span className={styles.totalValue}>{value}</span>
        {aside && <span className={styles.totalAside}>{aside}</span>}
      </dd>
    </div>
  )
}

import { Fragment } from 'react'
import type { ActivityEntry } from '../../../../contract/admin'
import { useNow } from '../../../ui/time/useNow'
import { ActivityRow } from './ActivityRow'
import { useActivityLinks } from './useActivityLinks'
import adminStyles from '../admin.module.scss'
import styles from './activity.module.scss'

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })

/** Entries below the day on which they happened, in the time zone of the browser. */
export function ActivityDays({ entries, busy }: { entries: ActivityEntry[]; busy: boolean }) {
  const links = useActivityLinks()
  const now = useNow(60_000)
  return (
    <div className={`panel ${adminStyles.table} ${adminStyles.wide}`} aria-busy={busy}>
      {daysOf(entries).map(({ day, entries: ofDay }) => (
        <Fragment key={`${day} ${ofDay[0]?.id}`}>
          <h2 className={styles.day}>{dayInWords(day, now)}</h2>
          <ul className={adminStyles.list}>
            {ofDay.map((entry) => (
              <ActivityRow key={entry.id} entry={entry} links={links} />
            ))}
          </ul>
        </Fragment>
      ))}
    </div>
  )
}

const startOfDay = (time: number, days = 0) => {
  const day = new Date(time)
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days).getTime()
}

function daysOf(entries: ActivityEntry[]): { day: number; entries: ActivityEntry[] }[] {
  const days: { day: number; entries: ActivityEntry[] }[] = []
  for (const entry of entries) {
    const day = startOfDay(entry.at)
    const last = days.at(-1)
    if (last?.day === day) last.entries.push(entry)
    else days.push({ day, entries: [entry] })
  }
  return days
}

function dayInWords(day: number, now: number): string {
  if (day === startOfDay(now)) return 'Today'
  return day === startOfDay(now, -1) ? 'Yesterday' : date.format(day)
}

export const UNITS = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

export const relativeTime = new Intl.RelativeTimeFormat(undefined, { numeric: 'always' })
const now = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(0, 'second')

/**
 * Returns `3 minutes ago` in the largest unit that fits, in whole numbers, or `now` below one minute, in the browser's
 * language.
 */
export function timeAgo(time: number, at: number): string {
  const age = at - time
  const unit = UNITS.find(([, length]) => Math.abs(age) >= length)
  // Clocks differ, so a time in the future counts as now.
  if (!unit || age < 0) return now
  return relativeTime.format(-Math.floor(age / unit[1]), unit[0])
}

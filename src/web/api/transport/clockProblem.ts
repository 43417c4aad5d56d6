const DAY_MS = 86_400_000

/**
 * Returns a warning if this device's clock differs from the server's by a day or more: a session lasts 7 days by this
 * clock.
 * @param date `Date` header of a response.
 * @param now milliseconds since the epoch
 */
export function clockProblem(date: string | null | undefined, now: number): string | undefined {
  const days = Math.round(Math.abs(now - Date.parse(date ?? '')) / DAY_MS)
  return days >= 1
    ? `The clock of this device differs from the server's by ${days} ${days === 1 ? 'day' : 'days'}. Set it right, then sign in again.`
    : undefined
}

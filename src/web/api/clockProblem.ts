const DAY_MS = 86_400_000

/**
 * What to say of a clock that is days from the server's: a session lasts 7 days by the clock of this device.
 * @param date of an answer of the server. @param now milliseconds since the epoch
 */
export function clockProblem(date: string | null | undefined, now: number): string | undefined {
  const days = Math.round(Math.abs(now - Date.parse(date ?? '')) / DAY_MS)
  return days >= 1
    ? `The clock of this device differs from the server's by ${days} ${days === 1 ? 'day' : 'days'}. Set it right, then sign in again.`
    : undefined
}

/** The nearest value of a percentile, from 0 (the smallest) to 100 (the largest), in milliseconds. */
export function percentile(times: number[], percent: number, digits = 0): string {
  const sorted = times.toSorted((one, other) => one - other)
  return `${(sorted[Math.floor(((sorted.length - 1) * percent) / 100)] ?? 0).toFixed(digits)} ms`
}

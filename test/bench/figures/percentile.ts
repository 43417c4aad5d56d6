/** The nearest value of a percentile, from 0 (the smallest) to 100 (the largest); NaN without values. */
export function percentileOf(values: number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(((sorted.length - 1) * percent) / 100)] ?? NaN
}

/** As `percentileOf`, in words. @param times in milliseconds */
export function percentile(times: number[], percent: number, digits = 0): string {
  return `${percentileOf(times, percent).toFixed(digits)} ms`
}

import { appendFileSync } from 'node:fs'

/** A row of the table. */
export interface Figure {
  /** The same for each run and revision. */
  what: string
  value: number
  unit: string
  /** The most, or with `atLeast` the least, that the value should be. */
  budget?: number
  atLeast?: true
}

/** Prints a figure, and hands it to `npm run bench`, which makes the table. */
export function report(figure: Figure): void {
  const { what, value, unit, budget, atLeast } = figure
  const wanted = budget === undefined ? '' : ` (${atLeast ? 'at least' : 'at most'} ${budget})`
  console.log(`${what}: ${round(value)} ${unit}${wanted}`)
  if (process.env.BENCH_FIGURES) appendFileSync(process.env.BENCH_FIGURES, `${JSON.stringify(figure)}\n`)
}

/** With three digits. */
export const round = (value: number) => Number(value.toPrecision(3))

export function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2
}

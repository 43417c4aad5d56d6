/** Steps between ticks, times a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10]
/** The smallest power: labels have at most one decimal. */
const MIN_POWER = 0.1
const TICKS = 5
/** Sums of decimals are not exact. */
const ROUNDING = 1e-9

export type Scale = { max: number; ticks: number; text: (value: number) => string }

/**
 * A scale from 0 to at least `highest` whose ticks are round numbers with at most one decimal, so its labels are exact.
 */
export function scaleUpTo(highest: number): Scale {
  const rough = Math.max(MIN_POWER, highest / TICKS)
  const power = 10 ** Math.floor(Math.log10(rough) + ROUNDING)
  const steps = STEPS.map((step) => step * power).filter((step) => power >= 1 || step !== 2.5 * power)
  const step = steps.find((candidate) => candidate >= rough - ROUNDING) ?? 10 * power
  const ticks = Math.max(1, Math.ceil(highest / step - ROUNDING))
  const digits = Number.isInteger(step) ? 0 : 1
  return { max: ticks * step, ticks, text: (value) => grouped(value, digits) }
}

/** Formats a number with thousands separators: `1,024.5`. */
export const grouped = (value: number, digits: number) =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })

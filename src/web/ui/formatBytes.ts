const UNITS = ['Bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** Product §9: base 1024, two decimals; bytes have none. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} Bytes`
  let value = bytes
  let unit = 0
  // A value that would round to 1024.00 is shown in the next unit.
  while (Number(value.toFixed(2)) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${value.toFixed(2)} ${UNITS[unit]}`
}

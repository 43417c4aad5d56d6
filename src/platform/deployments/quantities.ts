const BINARY_SUFFIXES = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 } as const

/** @param cpu as in a definition: `500m` or `1.5`. @returns cores */
export function coresOf(cpu: string): number {
  return cpu.endsWith('m') ? Number(cpu.slice(0, -1)) / 1000 : Number(cpu)
}

/** @param memory as in a definition: `512Mi`. @returns bytes */
export function bytesOf(memory: string): number {
  const suffix = memory.slice(-2) as keyof typeof BINARY_SUFFIXES
  return Number(memory.slice(0, -2)) * BINARY_SUFFIXES[suffix]
}

/** @returns the two largest units of a duration: `3h 12m`, `45s`, `2d 0h` */
export function uptimeText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  if (days > 0) return `${days}d ${hours}h`
  if (hours > 0) return `${hours}h ${minutes}m`
  if (minutes > 0) return `${minutes}m ${seconds % 60}s`
  return `${seconds}s`
}

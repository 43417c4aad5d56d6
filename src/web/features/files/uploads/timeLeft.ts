/** For people: `9s`, `4m 10s`, `2h 5m`. Nothing while nobody knows. */
export function timeLeft(bytes: number, bytesPerSecond: number): string | undefined {
  if (bytesPerSecond <= 0) return undefined
  const seconds = Math.ceil(bytes / bytesPerSecond)
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

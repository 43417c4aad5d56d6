/** Measures the processor time of synchronous work in milliseconds, which does not depend on other load. */
export function cpuMs(work: () => void): number {
  const begin = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / 1000
}

import { startAwakeClock } from './awakeClock'

/**
 * Measures how long the work took in milliseconds, without the time in which the process or the machine was suspended.
 */
export async function awakeMs(work: () => Promise<unknown>): Promise<number> {
  const clock = startAwakeClock()
  try {
    await work()
    return clock.ms()
  } finally {
    clock.stop()
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { startAwakeClock } from '../time/awakeClock'

/**
 * Repeats the question until the response is truthy or accepted; fails after `seconds` with the last response. Does not
 * count the time in which the machine was suspended.
 */
export async function until<Answer>(
  ask: () => Answer | Promise<Answer>,
  isThere: (answer: Answer) => boolean = Boolean,
  seconds = 60,
): Promise<Answer> {
  const clock = startAwakeClock()
  try {
    for (;;) {
      const answer = await ask()
      if (isThere(answer)) return answer
      if (clock.ms() > seconds * 1000)
        throw new Error(`It did not come about within ${seconds} s; the last response was ${JSON.stringify(answer)}`)
      await delay(20)
    }
  } finally {
    clock.stop()
  }
}

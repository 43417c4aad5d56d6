import { setTimeout as delay } from 'node:timers/promises'

/** Repeats the question until the answer is truthy or accepted; fails after `seconds` with the last answer. */
export async function until<Answer>(
  ask: () => Answer | Promise<Answer>,
  isThere: (answer: Answer) => boolean = Boolean,
  seconds = 60,
): Promise<Answer> {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const answer = await ask()
    if (isThere(answer)) return answer
    if (Date.now() > deadline)
      throw new Error(`It did not come about within ${seconds} s; the last answer was ${JSON.stringify(answer)}`)
    await delay(20)
  }
}

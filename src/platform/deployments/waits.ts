import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 100

/** Asks until the answer is there. The asking is by the state, because another replica may be the one that does the work. */
export async function waitFor<Answer>(ask: () => Promise<Answer | undefined>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    await delay(POLL_MS)
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import type { Definition } from '../../contract/deployment'
import { AppError } from '../errors'
import { createKeyedQueue } from '../share/keyedQueue'
import { parseDefinition } from './definitions'

/** Texts of one user that wait to be read. */
const MOST_WAITING = 100
/** When it makes sense to ask again. In seconds. */
const RETRY_AFTER = 5

/**
 * Reads a text that a user sends, as `parseDefinition` does. The heaviest one keeps the platform busy for a tenth of a second, so texts are
 * read one at a time, one of each user in turn, and after each the platform does other work for as long as it took.
 * @param userId who sends it.
 * @throws AppError as parseDefinition; TOO_MANY_TRIES where too many of theirs wait
 */
export type DefinitionReader = (
  userId: number,
  text: string,
  fixed: Partial<Pick<Definition, 'name' | 'type'>>,
) => Promise<Definition>

export function createDefinitionReader(): DefinitionReader {
  const inTurn = createKeyedQueue()
  const waiting = new Map<number, number>()

  return async (userId, text, fixed) => {
    const count = waiting.get(userId) ?? 0
    if (count >= MOST_WAITING)
      throw new AppError(
        'TOO_MANY_TRIES',
        'Too many of your configurations wait to be checked. Try again in a moment.',
        { retryAfterSeconds: RETRY_AFTER },
      )
    waiting.set(userId, count + 1)
    try {
      return await inTurn(`user ${userId}`, () => inTurn('everybody', () => readAndRest(text, fixed)))
    } finally {
      const left = (waiting.get(userId) ?? 0) - 1
      if (left > 0) waiting.set(userId, left)
      else waiting.delete(userId)
    }
  }
}

async function readAndRest(...[text, fixed]: Parameters<typeof parseDefinition>): Promise<Definition> {
  const begun = performance.now()
  try {
    return parseDefinition(text, fixed)
  } finally {
    await pause(performance.now() - begun)
  }
}

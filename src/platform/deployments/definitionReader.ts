import { setTimeout as delay } from 'node:timers/promises'
import type { Definition } from '../../contract/deployment'
import { AppError } from '../errors'
import { createKeyedCounter } from '../concurrency/keyedCounter'
import { createKeyedQueue } from '../concurrency/keyedQueue'
import { parseDefinition } from './definitions'

/** Limit of the texts of one user that wait to be parsed. */
const MAX_QUEUED_PER_USER = 100
const RETRY_AFTER_SECONDS = 5

/**
 * Parses a text that a user sends, as `parseDefinition` does. The heaviest text blocks the event loop for a tenth of a
 * second. Texts are therefore parsed one at a time, users take turns, and a pause as long as the parsing follows each.
 * @param userId the sender
 * @throws AppError as parseDefinition, or TOO_MANY_TRIES when too many texts of this user wait
 */
export type DefinitionReader = (
  userId: number,
  text: string,
  fixed: Partial<Pick<Definition, 'name' | 'type'>>,
) => Promise<Definition>

export function createDefinitionReader(): DefinitionReader {
  const inTurn = createKeyedQueue()
  const queued = createKeyedCounter<number>()

  return async (userId, text, fixed) => {
    if (queued.get(userId) >= MAX_QUEUED_PER_USER)
      throw new AppError(
        'TOO_MANY_TRIES',
        'Too many of your configurations are waiting to be checked. Try again in a moment.',
        { retryAfterSeconds: RETRY_AFTER_SECONDS },
      )
    queued.add(userId, 1)
    try {
      return await inTurn(`user ${userId}`, () => inTurn('all users', () => parseAndPause(text, fixed)))
    } finally {
      queued.add(userId, -1)
    }
  }
}

async function parseAndPause(...[text, fixed]: Parameters<typeof parseDefinition>): Promise<Definition> {
  const startedAt = performance.now()
  try {
    return parseDefinition(text, fixed)
  } finally {
    await delay(performance.now() - startedAt)
  }
}

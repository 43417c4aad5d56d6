import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors'
import { userOf } from './access'
import { checkAwaited, onceSent, SILENCE_MS } from './sending'

/** Of all together. In bytes. */
const MOST = 256 * 2 ** 20
/** Of one user. In bytes. */
const MOST_OF_ONE = MOST / 2
/** Shorter ones are not counted: most of these the connection itself takes, whether they are read or not. In bytes. */
const COUNTED_FROM = 2 ** 16

/** What answers hold in memory until they have been sent, which who asked may take any time for. */
export interface AnswersUnderWay {
  /**
   * Counts what the answer to a request holds, until it has been sent or its connection has closed. Several answers may hold the
   * same, which counts once.
   * @throws AppError UNAVAILABLE where too much is held already, TOO_SLOW when nobody waits for it any more
   */
  hold(request: FastifyRequest, reply: FastifyReply, what: object, bytes: number): void
}

/** @param silenceMs for tests. */
export function createAnswersUnderWay(silenceMs = SILENCE_MS): AnswersUnderWay {
  const held = new Map<object, { bytes: number; users: number[] }>()

  function sum(isMeant: (users: number[]) => boolean): number {
    return [...held.values()].reduce((bytes, one) => bytes + (isMeant(one.users) ? one.bytes : 0), 0)
  }

  return {
    hold(request, reply, what, bytes) {
      const { userId } = userOf(request)
      checkAwaited(request)
      // The second: it was answered already, by the failure of something else.
      if (bytes < COUNTED_FROM || reply.raw.writableEnded) return
      const known = held.get(what) ?? { bytes, users: [] }
      const isOver = (!held.has(what) && sum(() => true) + bytes > MOST) || (!known.users.includes(userId) && sum((users) => users.includes(userId)) + bytes > MOST_OF_ONE)
      if (isOver) throw new AppError('UNAVAILABLE', 'Too many long answers are on their way at once. Try again in a moment.')
      known.users.push(userId)
      held.set(what, known)
      onceSent(request, reply, silenceMs, () => {
        known.users.splice(known.users.indexOf(userId), 1)
        if (known.users.length === 0) held.delete(what)
      })
    },
  }
}

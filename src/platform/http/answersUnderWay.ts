import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../errors'
import { payerOf } from './access'
import { checkAwaited, onceAnswered } from './sending'

/** Of all together. In bytes. */
const MOST = 256 * 2 ** 20
/** Of one user, or of one address where nobody is signed in. In bytes. */
const MOST_OF_ONE = MOST / 2
/** Shorter ones are not counted: most of these the connection itself takes, whether they are read or not. In bytes. */
const COUNTED_FROM = 2 ** 16
/** Streams hold a file and a buffer each: of one user, and of one address where nobody is signed in (the page's files: an office shares one). */
const MOST_STREAMS = { user: 32, address: 512 }
/** When it makes sense to ask again. In seconds. */
const RETRY_AFTER = 5
/** A client that takes nothing of an answer for so long is disconnected. In milliseconds. */
const SILENCE_MS = 60_000

/** What answers hold in memory until they have been sent, however slowly the client reads them. */
export interface AnswersUnderWay {
  /**
   * Counts what the answer to a request holds, until it has been sent or its connection has closed. Several answers may hold the
   * same, which counts once.
   * @throws AppError UNAVAILABLE where too much is held already, TOO_SLOW when the client has disconnected
   */
  hold(request: FastifyRequest, reply: FastifyReply, what: object, bytes: number): void
}

export function createAnswersUnderWay(): AnswersUnderWay {
  const held = new Map<object, { bytes: number; payers: string[] }>()

  function sum(isMeant: (payers: string[]) => boolean): number {
    return [...held.values()].reduce((bytes, one) => bytes + (isMeant(one.payers) ? one.bytes : 0), 0)
  }

  return {
    hold(request, reply, what, bytes) {
      const { key } = payerOf(request)
      checkAwaited(request)
      // The second: it was answered already, by the failure of something else.
      if (bytes < COUNTED_FROM || reply.raw.writableEnded) return
      const known = held.get(what) ?? { bytes, payers: [] }
      const isOver =
        (!held.has(what) && sum(() => true) + bytes > MOST) ||
        (!known.payers.includes(key) && sum((payers) => payers.includes(key)) + bytes > MOST_OF_ONE)
      if (isOver)
        throw new AppError('UNAVAILABLE', 'Too many long answers are on their way at once. Try again in a moment.', {
          retryAfterSeconds: RETRY_AFTER,
        })
      known.payers.push(key)
      held.set(what, known)
      onceAnswered(request, reply, () => {
        known.payers.splice(known.payers.indexOf(key), 1)
        if (known.payers.length === 0) held.delete(what)
      })
    },
  }
}

/**
 * Every answer has a write time-out, and every long or streamed one counts against who asked for it: an answer that nobody reads holds
 * neither memory nor files for long. To be called before other `onSend` hooks: they see the failure instead of what is refused here.
 * @param silenceMs for tests.
 */
export function limitAnswers(app: FastifyInstance, answers: AnswersUnderWay, silenceMs = SILENCE_MS): void {
  const streams = new Map<string, number>()

  function beginStream(request: FastifyRequest, reply: FastifyReply): void {
    checkAwaited(request)
    const { key, isUser } = payerOf(request)
    const count = streams.get(key) ?? 0
    if (count >= (isUser ? MOST_STREAMS.user : MOST_STREAMS.address)) {
      throw new AppError('TOO_MANY_TRIES', 'Too many downloads are under way. Try again when one of them is done.', {
        retryAfterSeconds: RETRY_AFTER,
      })
    }
    streams.set(key, count + 1)
    onceAnswered(request, reply, () => {
      const left = (streams.get(key) ?? 0) - 1
      if (left > 0) streams.set(key, left)
      else streams.delete(key)
    })
  }

  app.addHook('onSend', async (request, reply, payload) => {
    reply.raw.setTimeout(silenceMs, () => reply.raw.destroy())
    if (isStream(payload)) {
      try {
        beginStream(request, reply)
      } catch (error) {
        payload.destroy()
        for (const name of ['content-disposition', 'content-range', 'accept-ranges', 'last-modified'])
          reply.removeHeader(name)
        throw error
      }
    } else if (typeof payload === 'string' || Buffer.isBuffer(payload)) {
      if (payload.length < COUNTED_FROM) return payload
      // As bytes: what is sent of a string would be held as a string and as bytes.
      const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
      answers.hold(request, reply, bytes, bytes.length)
      return bytes
    }
    return payload
  })
}

function isStream(payload: unknown): payload is Readable {
  return typeof payload === 'object' && payload !== null && 'pipe' in payload
}

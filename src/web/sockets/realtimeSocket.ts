import type { Middleware } from '@reduxjs/toolkit'
import { isAction } from '@reduxjs/toolkit'
import type { ClientBound, ServerBound } from '../../contract/sockets/realtime'
import { pageLeft, pageLoaded, problemLogged, sessionEnded, sessionStarted } from '../facts'
import type { RealtimeMessage } from './realtimeSlice'
import { connected, disconnected, messageReceived, sendRequested } from './realtimeSlice'

export type RealtimeListener = {
  connected(): void
  /** The connection was lost or could not be opened. */
  disconnected(): void
  received(message: unknown): void
}
export type RealtimeConnection = {
  connected(): boolean
  send(message: RealtimeMessage): void
  /** After this call the listener is not called any more. */
  close(): void
}
export type ConnectRealtime = (listener: RealtimeListener) => RealtimeConnection

/** The known message ids, with a validator of their data. */
const validators: Record<ClientBound['id'], (data: unknown) => boolean> = {
  CLIENT_HANDSHAKE: (data) => helloOf(data) !== undefined,
  CLIENT_FILE_SYNC: () => true,
}

/** Owns the real-time connection, which is open while a user is signed in and the page is loaded. */
export const createRealtimeSocket =
  (connect: ConnectRealtime, now: () => number): Middleware =>
  ({ dispatch }) => {
    let connection: RealtimeConnection | undefined
    let loaded = false
    let signedIn = false
    let isLost = false

    const report = (what: string, reason: string) => void dispatch(problemLogged(what, reason))

    const send = (message: RealtimeMessage) => {
      if (connection?.connected()) {
        connection.send(message)
        return true
      }
      report(`Failed to send the real-time message ${message.id}`, 'The page is not connected.')
      return false
    }

    const receive = (message: unknown) => {
      if (!isMessage(message)) return report('Dropped a real-time message', 'It has no id.')
      const { id, data } = message
      if (!isKnown(id)) return report(`Dropped the real-time message ${id}`, 'Its id is not known.')
      if (!validators[id](data)) return report(`Dropped the real-time message ${id}`, 'Its data is not valid.')
      dispatch(messageReceived({ id, data }))
      if (id === 'CLIENT_HANDSHAKE') {
        const acknowledgement: ServerBound = {
          id: 'SERVER_HANDSHAKE_ACK',
          data: { helloResponse: helloOf(data) ?? '' },
        }
        send(acknowledgement)
      }
    }

    const follow = () => {
      const wanted = loaded && signedIn
      if (wanted && !connection) {
        connection = connect({
          connected() {
            isLost = false
            dispatch(connected())
          },
          disconnected() {
            // Called for each failed attempt; the first one gives the time of the loss.
            if (isLost) return
            isLost = true
            dispatch(disconnected(now()))
          },
          received: receive,
        })
      } else if (!wanted && connection) {
        connection.close()
        connection = undefined
        isLost = false
        dispatch(disconnected(null))
      }
    }

    return (next) => (action) => {
      const result = next(action)
      if (!isAction(action)) return result
      if (sendRequested.match(action)) return send(action.payload)
      if (pageLoaded.match(action)) loaded = true
      else if (pageLeft.match(action)) loaded = false
      else if (sessionStarted.match(action)) signedIn = true
      else if (sessionEnded.match(action)) signedIn = false
      else return result
      follow()
      return result
    }
  }

function isMessage(message: unknown): message is RealtimeMessage {
  const id = (message as { id?: unknown } | null | undefined)?.id
  return typeof id === 'string' && id !== ''
}

const isKnown = (id: string): id is ClientBound['id'] => Object.hasOwn(validators, id)

function helloOf(data: unknown) {
  const hello = (data as { hello?: unknown } | null | undefined)?.hello
  return typeof hello === 'string' ? hello : undefined
}

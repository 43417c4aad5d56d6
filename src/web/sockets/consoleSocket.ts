import type { Middleware } from '@reduxjs/toolkit'
import { isAction } from '@reduxjs/toolkit'
import type { ConsoleRequest } from '../../contract/consoleChannel'
import { addAppMiddleware } from '../app/dynamicMiddleware'
import { servicesOf } from '../app/services'
import { problemLogged, sessionEnded } from '../facts'
import { connectConsole } from './connectConsole'
import type { ConnectConsole } from './reconnectingConsole'
import { openReconnecting } from './reconnectingConsole'
import type { ConsoleState, ConsoleTarget, PowerAction } from './consoleSlice'
import {
  consoleConnecting,
  consoleDisconnected,
  commandRefused,
  commandSent,
  commandSubmitted,
  consoleLeft,
  consoleOpened,
  instanceRevived,
  linesReceived,
  consoleConnected,
  powerRequested,
  stateReported,
} from './consoleSlice'
import type { ConsoleLine } from './lineBuffer'
import { KEPT_LENGTH, KEPT_LINES, lengthOf, newestOf } from './lineBuffer'
import { nextFrame } from './nextFrame'

/** Delay between closing one instance's console and opening another's (product §9). */
const SWITCH_DELAY_MS = 100

/** Throttle: when more lines than this are pending, they are dispatched less often, so that typing stays responsive. */
const FLOOD_LINES = 50
const FLOOD_MS = 100
/** After a keystroke within this time the throttle interval is doubled, so that the input is painted first. */
const TYPING_MS = 50

const NOT_CONNECTED = 'The console was not connected.'

const messageOf = (request: ConsoleRequest) => JSON.stringify(request)

/** Owns the connection of the shown console. Dispatches what it receives, lines at most once per animation frame. */
export const createConsoleSocket =
  (
    connect: ConnectConsole,
    { onFrame = nextFrame, random = Math.random, sinceKey = watchKeystrokes() } = {},
  ): Middleware =>
  ({ dispatch }) => {
    let target: ConsoleTarget | undefined
    /** The previous target and when it was closed. */
    let previous: (ConsoleTarget & { at: number }) | undefined
    let link: ReturnType<typeof openReconnecting> | undefined
    let openTimer: ReturnType<typeof setTimeout> | undefined
    let end: ConsoleState['end'] = null
    let pending: ConsoleLine[] = []
    /** In UTF-16 units. */
    let pendingLength = 0
    let cancelFrame: (() => void) | undefined
    let flushedAt = 0

    const buffer = (lines: readonly ConsoleLine[]) => {
      for (const line of lines) pending.push(line)
      pendingLength += lengthOf(lines)
      // Pending lines are limited as well, since the buffer would evict the rest.
      if (pending.length > 2 * KEPT_LINES || pendingLength > 2 * KEPT_LENGTH) {
        pending = newestOf(pending)
        pendingLength = lengthOf(pending)
      }
      cancelFrame ??= onFrame(flush)
    }

    const flush = () => {
      const now = performance.now()
      const wait = sinceKey() < TYPING_MS ? 2 * FLOOD_MS : FLOOD_MS
      if (pending.length > FLOOD_LINES && now - flushedAt < wait) {
        cancelFrame = onFrame(flush)
        return
      }
      const lines = pending
      pending = []
      pendingLength = 0
      cancelFrame = undefined
      flushedAt = now
      dispatch(linesReceived(lines))
    }

    const closeTarget = () => {
      clearTimeout(openTimer)
      cancelFrame?.()
      cancelFrame = undefined
      pending = []
      pendingLength = 0
      link?.close()
      link = undefined
      if (target) previous = { ...target, at: performance.now() }
      target = undefined
    }

    const open = (to: ConsoleTarget) => {
      link = openReconnecting(
        to,
        connect,
        {
          connecting() {
            end = null
            dispatch(consoleConnecting())
          },
          opened: () => dispatch(consoleConnected()),
          closed(reason) {
            end = reason
            dispatch(consoleDisconnected(reason))
          },
          lines: buffer,
          state: (state) => dispatch(stateReported({ ...to, state })),
        },
        random,
      )
    }

    const openTarget = (to: ConsoleTarget) => {
      closeTarget()
      target = to
      const isOtherInstance = previous && (previous.deployment !== to.deployment || previous.podName !== to.podName)
      const wait = isOtherInstance && previous ? previous.at + SWITCH_DELAY_MS - performance.now() : 0
      if (wait > 0) openTimer = setTimeout(() => open(to), wait)
      else open(to)
    }

    const power = (action: PowerAction) => {
      const message = messageOf({ type: 'power', action })
      if (link?.send(message)) return
      if ((action === 'start' || action === 'restart') && end === 'jarMissing') link?.reopen(message)
      // Only logged (product §8).
      else if (target) dispatch(problemLogged(`Failed to ${action} ${target.podName}`, NOT_CONNECTED))
    }

    const command = (text: string) => {
      if (text.trim() === '') return
      if (link?.send(messageOf({ type: 'command', command: text }))) {
        dispatch(commandSent())
        return
      }
      dispatch(commandRefused())
      if (target) dispatch(problemLogged(`Failed to send a command to ${target.podName}`, NOT_CONNECTED))
    }

    return (next) => (action) => {
      const result = next(action)
      if (!isAction(action)) return result
      if (powerRequested.match(action)) power(action.payload)
      else if (commandSubmitted.match(action)) command(action.payload)
      else if (consoleOpened.match(action)) openTarget(action.payload)
      // Without line numbers, the server would replay the line about the missing jar and end the console again.
      else if (instanceRevived.match(action) && end === 'jarMissing' && link?.canResume()) link.reopen()
      else if (consoleLeft.match(action) || sessionEnded.match(action)) closeTarget()
      return result
    }
  }

addAppMiddleware((store) => createConsoleSocket(servicesOf(store.dispatch).connectConsole ?? connectConsole)(store))

/** @returns a function that returns the milliseconds since the last keystroke on the page */
function watchKeystrokes(): () => number {
  let pressedAt = -Infinity
  addEventListener('keydown', () => (pressedAt = performance.now()), { capture: true, passive: true })
  return () => performance.now() - pressedAt
}

import type { Middleware } from '@reduxjs/toolkit'
import { isAction } from '@reduxjs/toolkit'
import type { ConsoleRequest } from '../../contract/consoleChannel'
import { problemMet, sessionEnded } from '../facts'
import type { ConnectConsole } from './consoleLink'
import { openLink } from './consoleLink'
import type { ConsoleState, ConsoleTarget, PowerAction } from './consoleSlice'
import {
  attempted,
  closed,
  commandSent,
  consoleLeft,
  consoleOpened,
  instanceRevived,
  linesReceived,
  opened,
  powerRequested,
  stateReported,
} from './consoleSlice'
import type { ConsoleLine } from './lineBuffer'
import { KEPT_LENGTH, KEPT_LINES, lengthOf, newestOf } from './lineBuffer'
import { nextFrame } from './nextFrame'
import { watchKeys } from './watchKeys'

/** Between leaving one instance's console and opening another's (product §9). In milliseconds. */
const CHANGE_MS = 100

/** More than anybody reads in one frame. They come in fewer pieces, so that the page has time for who types. In lines, in milliseconds. */
const FLOOD_LINES = 50
const FLOOD_MS = 100
/** What was typed is drawn first, on its own; the flood waits so long for it, up to twice its time. In milliseconds. */
const TYPING_MS = 50

const NOT_CONNECTED = 'The console was not connected.'

const messageOf = (request: ConsoleRequest) => JSON.stringify(request)

/** Holds the console of the instance that is shown; tells what it hears as facts, lines at most once per animation frame. */
export const createConsoleSocket =
  (connect: ConnectConsole, { onFrame = nextFrame, random = Math.random, sinceKey = watchKeys() } = {}): Middleware =>
  ({ dispatch }) => {
    let target: ConsoleTarget | undefined
    /** What was shown before, and until when. */
    let left: (ConsoleTarget & { at: number }) | undefined
    let link: ReturnType<typeof openLink> | undefined
    let change: ReturnType<typeof setTimeout> | undefined
    let end: ConsoleState['end'] = null
    let pending: ConsoleLine[] = []
    /** In UTF-16 units. */
    let pendingLength = 0
    let callOff: (() => void) | undefined
    let toldAt = 0

    const hear = (lines: readonly ConsoleLine[]) => {
      for (const line of lines) pending.push(line)
      pendingLength += lengthOf(lines)
      // No more than the buffer would keep of them.
      if (pending.length > 2 * KEPT_LINES || pendingLength > 2 * KEPT_LENGTH) {
        pending = newestOf(pending)
        pendingLength = lengthOf(pending)
      }
      callOff ??= onFrame(tell)
    }

    const tell = () => {
      const now = performance.now()
      const wait = sinceKey() < TYPING_MS ? 2 * FLOOD_MS : FLOOD_MS
      if (pending.length > FLOOD_LINES && now - toldAt < wait) {
        callOff = onFrame(tell)
        return
      }
      const heard = pending
      pending = []
      pendingLength = 0
      callOff = undefined
      toldAt = now
      dispatch(linesReceived(heard))
    }

    const leave = () => {
      clearTimeout(change)
      callOff?.()
      callOff = undefined
      pending = []
      pendingLength = 0
      link?.close()
      link = undefined
      if (target) left = { ...target, at: performance.now() }
      target = undefined
    }

    const open = (to: ConsoleTarget) => {
      link = openLink(
        to,
        connect,
        {
          attempted() {
            end = null
            dispatch(attempted())
          },
          opened: () => dispatch(opened()),
          closed(reason) {
            end = reason
            dispatch(closed(reason))
          },
          lines: hear,
          state: (state) => dispatch(stateReported({ ...to, state })),
        },
        random,
      )
    }

    const follow = (to: ConsoleTarget) => {
      leave()
      target = to
      const isChange = left && (left.deployment !== to.deployment || left.podName !== to.podName)
      const wait = isChange && left ? left.at + CHANGE_MS - performance.now() : 0
      if (wait > 0) change = setTimeout(() => open(to), wait)
      else open(to)
    }

    const power = (action: PowerAction) => {
      const message = messageOf({ type: 'power', action })
      if (link?.send(message)) return true
      if ((action === 'start' || action === 'restart') && end === 'jarMissing') link?.reopen(message)
      // Only logged (product §8).
      else if (target) dispatch(problemMet(`Failed to ${action} ${target.podName}`, NOT_CONNECTED))
      return false
    }

    return (next) => (action) => {
      const result = next(action)
      if (!isAction(action)) return result
      if (powerRequested.match(action)) return power(action.payload)
      if (commandSent.match(action)) {
        const isSent =
          action.payload.trim() === '' || link?.send(messageOf({ type: 'command', command: action.payload }))
        if (!isSent && target) dispatch(problemMet(`Failed to send a command to ${target.podName}`, NOT_CONNECTED))
      } else if (consoleOpened.match(action)) follow(action.payload)
      // Without line numbers it would be told of the missing jar again.
      else if (instanceRevived.match(action) && end === 'jarMissing' && link?.canResume()) link.reopen()
      else if (consoleLeft.match(action) || sessionEnded.match(action)) leave()
      return result
    }
  }

import type { Action, Middleware } from '@reduxjs/toolkit'
import { isAction } from '@reduxjs/toolkit'
import type { ConsoleRequest } from '../../contract/sockets/consoleChannel'
import { addAppMiddleware } from '../app/dynamicMiddleware'
import { servicesOf } from '../app/servicesOf'
import { problemLogged, sessionEnded } from '../facts'
import { connectConsole } from './connectConsole'
import type { ConnectConsole, ConsoleEnd, ConsoleTarget } from './reconnectingConsole'
import { openReconnecting } from './reconnectingConsole'
import type { PowerAction } from './consoleSlice'
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
import type { LineBatchOptions } from './lineBatches'
import { batchLines, watchKeystrokes } from './lineBatches'
import type { Pane } from './panes'
import { inPane, paneOf } from './panes'
import { connected as realtimeConnected, disconnected as realtimeDisconnected } from './realtimeSlice'

/** Delay between closing one instance's console and opening another's (product §9). */
const SWITCH_DELAY_MS = 100

/** Further clicks on a power button within this time are the same request. */
const REPEAT_MS = 1000

const NOT_CONNECTED = 'The console was not connected.'

const messageOf = (request: ConsoleRequest) => JSON.stringify(request)

type Channel = ReturnType<typeof createChannel>
type ChannelOptions = LineBatchOptions & { random: () => number }

/**
 * Owns the connections of the shown consoles: that of the instance page, or one for each pane. Dispatches received
 * messages with their pane, lines at most once per animation frame.
 */
export const createConsoleSocket =
  (
    connect: ConnectConsole,
    { onFrame, random = Math.random, sinceKey = watchKeystrokes() }: Partial<ChannelOptions> = {},
  ): Middleware =>
  ({ dispatch }) => {
    const channels = new Map<Pane | undefined, Channel>()
    const channelOf = (pane: Pane | undefined) => {
      const known = channels.get(pane)
      if (known) return known
      const tell = (fact: Action) => void dispatch(inPane(fact, pane))
      const channel = createChannel(connect, tell, { onFrame, random, sinceKey })
      channels.set(pane, channel)
      return channel
    }
    return (next) => (action) => {
      const result = next(action)
      if (!isAction(action)) return result
      if (powerRequested.match(action)) channelOf(paneOf(action)).power(action.payload)
      else if (commandSubmitted.match(action)) channelOf(paneOf(action)).command(action.payload)
      else if (consoleOpened.match(action)) channelOf(paneOf(action)).openTarget(action.payload)
      else if (instanceRevived.match(action)) channelOf(paneOf(action)).revive()
      else if (consoleLeft.match(action)) channelOf(paneOf(action)).closeTarget()
      else if (sessionEnded.match(action)) for (const channel of channels.values()) channel.closeTarget()
      // Only the real-time connection notices a network that carries nothing any more but closes no connection.
      else if (realtimeDisconnected.match(action)) for (const channel of channels.values()) channel.suspect()
      else if (realtimeConnected.match(action)) for (const channel of channels.values()) channel.replaceSuspect()
      return result
    }
  }

/** Connects to one console after the other, and reports events to `dispatch`. */
function createChannel(
  connect: ConnectConsole,
  dispatch: (fact: Action) => void,
  { onFrame, random, sinceKey }: ChannelOptions,
) {
  let target: ConsoleTarget | undefined
  /** The previous target and when it was closed. */
  let previous: (ConsoleTarget & { at: number }) | undefined
  let link: ReturnType<typeof openReconnecting> | undefined
  let openTimer: ReturnType<typeof setTimeout> | undefined
  let end: ConsoleEnd | null = null
  /** The last power request that was sent, until the instance reports a state or the connection is lost. */
  let requested: { action: PowerAction; at: number } | undefined
  const batch = batchLines((lines) => dispatch(linesReceived(lines)), { onFrame, sinceKey })

  const closeTarget = () => {
    clearTimeout(openTimer)
    batch.clear()
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
          requested = undefined
          dispatch(consoleDisconnected(reason))
        },
        lines: (lines) => batch.add(lines),
        state(state) {
          requested = undefined
          dispatch(stateReported({ ...to, state }))
        },
      },
      random,
    )
  }

  const openTarget = (to: ConsoleTarget) => {
    closeTarget()
    requested = undefined
    target = to
    const isOtherInstance = previous && (previous.deployment !== to.deployment || previous.podName !== to.podName)
    const wait = isOtherInstance && previous ? previous.at + SWITCH_DELAY_MS - performance.now() : 0
    if (wait > 0) openTimer = setTimeout(() => open(to), wait)
    else open(to)
  }

  const power = (action: PowerAction) => {
    const at = performance.now()
    if (requested?.action === action && at - requested.at < REPEAT_MS) return
    const message = messageOf({ type: 'power', action })
    if (link?.send(message)) requested = { action, at }
    else if ((action === 'start' || action === 'restart') && end === 'jarMissing') link?.reopen(message)
    // A refused request is only logged (product §8).
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

  const revive = () => {
    // Without line numbers, the server would replay the line about the missing jar and end the console again.
    if (end === 'jarMissing' && link?.canResume()) link.reopen()
  }

  const suspect = () => link?.suspect()
  const replaceSuspect = () => link?.replaceSuspect()

  return { openTarget, closeTarget, power, command, revive, suspect, replaceSuspect }
}

addAppMiddleware((store) => createConsoleSocket(servicesOf(store.dispatch).connectConsole ?? connectConsole)(store))

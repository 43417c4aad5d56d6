import { lineOf, readFrame, systemLine } from './consoleFrames'
import type { ConsoleState, ConsoleTarget } from './consoleSlice'
import type { ConsoleLine } from './lineBuffer'

export type ConsoleListener = {
  opened(): void
  received(message: unknown): void
  failed(): void
  closed(code: number): void
}
export type ConsoleConnection = {
  send(text: string): void
  /** After it the listener is told nothing more. */
  close(): void
}
/** @throws where the browser will not even try. */
export type ConnectConsole = (url: string, listener: ConsoleListener) => ConsoleConnection

export type LinkEvents = {
  attempted(): void
  opened(): void
  closed(end: ConsoleState['end']): void
  lines(lines: readonly ConsoleLine[]): void
  state(state: string): void
}

/** The first wait after a loss, doubled with each attempt up to the longest. In milliseconds. */
const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5000
/** A connection that lasted this long was a good one: the next loss begins with the first wait. In milliseconds. */
const GOOD_MS = 5000
/** contract/consoleChannel.ts, which would bring zod along at run time. */
const CLOSE_SESSION_ENDED = 4401

/** The console of one instance, held over losses: it comes back by itself and goes on after the last line that was seen. */
export function openLink(target: ConsoleTarget, connect: ConnectConsole, events: LinkEvents, random: () => number) {
  let connection: ConsoleConnection | undefined
  let isOpen = false
  let openedAt = 0
  let attempts = 0
  /** Said once per loss, not per attempt. */
  let isFailureKnown = false
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Number of the line that was not seen yet, where the server counts. */
  let next: number | undefined
  /** Goes out with the next opening. */
  let waiting: string | undefined

  const attempt = () => {
    events.attempted()
    try {
      connection = connect(urlOf(target, next), { opened, received, failed, closed })
    } catch {
      lost()
    }
  }

  const opened = () => {
    isOpen = true
    openedAt = performance.now()
    isFailureKnown = false
    events.opened()
    if (waiting !== undefined) connection?.send(waiting)
    waiting = undefined
  }

  const received = (message: unknown) => {
    const reading = readFrame(message)
    if (reading.next !== undefined) next = reading.next
    if (reading.lines.length > 0) events.lines(reading.lines)
    if (reading.state !== undefined) events.state(reading.state)
    if (reading.isJarMissing) {
      events.lines([systemLine('Jar file not found. Connection terminated.')])
      connection?.close()
      isOpen = false
      events.closed('jarMissing')
    }
  }

  const failed = () => {
    if (isOpen) events.lines([lineOf('error', 'Connection error occurred.')])
  }

  const closed = (code: number) => {
    if (code === CLOSE_SESSION_ENDED) {
      isOpen = false
      // The next call is answered with 401, and that ends the session here too.
      return events.closed('sessionEnded')
    }
    if (isOpen) {
      events.lines([systemLine('Socket closed unexpectedly.')])
      isFailureKnown = true
      if (performance.now() - openedAt >= GOOD_MS) attempts = 0
    }
    lost()
  }

  const lost = () => {
    isOpen = false
    if (!isFailureKnown) events.lines([lineOf('error', 'Failed to establish connection.')])
    isFailureKnown = true
    events.closed(null)
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempts)
    attempts += 1
    // Up to a half less, so that not everybody comes back in the same moment.
    timer = setTimeout(attempt, wait * (1 - random() / 2))
  }

  attempt()
  return {
    /** @returns whether it was sent. */
    send(text: string) {
      if (isOpen) connection?.send(text)
      return isOpen
    },
    /** Opens again what was ended. What is given goes out first. */
    reopen(first?: string) {
      waiting = first
      attempts = 0
      attempt()
    },
    /** Whether a new connection goes on where the last one was. */
    canResume: () => next !== undefined,
    close() {
      clearTimeout(timer)
      connection?.close()
    },
  }
}

function urlOf({ deployment, podName }: ConsoleTarget, next: number | undefined) {
  const { protocol, host } = window.location
  const path = `/api/logs/${encodeURIComponent(deployment)}/${encodeURIComponent(podName)}`
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${path}${next === undefined ? '' : `?since=${next}`}`
}

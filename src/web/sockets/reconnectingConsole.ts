import { CLOSE_SESSION_ENDED } from '../../contract/pageRules'
import { basePath } from '../basePath'
import { lineOf, parseFrame, systemLine } from './consoleFrames'
import type { ConsoleLine } from './lineBuffer'

export type ConsoleTarget = { deployment: string; podName: string }
/** Why there is no further attempt. */
export type ConsoleEnd = 'jarMissing' | 'sessionEnded'

export type ConsoleListener = {
  opened(): void
  received(message: unknown): void
  failed(): void
  closed(code: number): void
}
export type ConsoleConnection = {
  send(text: string): void
  /** After this call the listener is not called any more. */
  close(): void
}
/** @throws if the browser refuses the URL */
export type ConnectConsole = (url: string, listener: ConsoleListener) => ConsoleConnection

export type ConsoleEvents = {
  connecting(): void
  opened(): void
  closed(end: ConsoleEnd | null): void
  lines(lines: readonly ConsoleLine[]): void
  state(state: string): void
}

/** Exponential back-off with jitter between attempts. */
const INITIAL_DELAY_MS = 100
const MAX_DELAY_MS = 5000
/** After a connection of this length the back-off starts again. */
const STABLE_MS = 5000
/** "Jar file not found!" ends the console unless other lines follow within this time, as in the history. */
const JAR_MISSING_MS = 250

/** Holds the console of one instance open: reconnects after a loss and resumes after the last line received. */
export function openReconnecting(
  target: ConsoleTarget,
  connect: ConnectConsole,
  events: ConsoleEvents,
  random: () => number,
) {
  let connection: ConsoleConnection | undefined
  let isOpen = false
  let isSuspect = false
  let openedAt = 0
  let attempts = 0
  /** The failure is shown once per loss, not once per attempt. */
  let isFailureShown = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let jarTimer: ReturnType<typeof setTimeout> | undefined
  /** Number of the next line, if the server numbers lines. */
  let nextLine: number | undefined
  let hasLines = false
  /** A message that is sent once the connection is open. */
  let queuedMessage: string | undefined

  const attempt = () => {
    events.connecting()
    try {
      connection = connect(urlOf(target, nextLine), { opened, received, failed, closed })
    } catch {
      lost()
    }
  }

  const opened = () => {
    isOpen = true
    isSuspect = false
    openedAt = performance.now()
    isFailureShown = false
    events.opened()
    if (queuedMessage !== undefined) connection?.send(queuedMessage)
    queuedMessage = undefined
  }

  const received = (message: unknown) => {
    const frame = parseFrame(message)
    if (frame.next !== undefined) nextLine = frame.next
    if (frame.lines.length > 0) {
      hasLines = true
      events.lines(frame.lines)
    }
    if (frame.state !== undefined) events.state(frame.state)
    // The state changes because of the missing jar, too.
    else if (frame.lines.length > 0) clearTimeout(jarTimer)
    if (frame.isJarMissing) jarTimer = setTimeout(endForJar, JAR_MISSING_MS)
  }

  const endForJar = () => {
    events.lines([systemLine('Jar file not found. Connection terminated.')])
    connection?.close()
    isOpen = false
    events.closed('jarMissing')
  }

  const failed = () => {
    if (isOpen) events.lines([lineOf('error', 'Connection error occurred.')])
  }

  const closed = (code: number) => {
    clearTimeout(jarTimer)
    if (code === CLOSE_SESSION_ENDED) {
      isOpen = false
      // The next API call is answered with 401, which ends the session here too.
      return events.closed('sessionEnded')
    }
    if (isOpen) {
      events.lines([systemLine('Socket closed unexpectedly.')])
      isFailureShown = true
      if (performance.now() - openedAt >= STABLE_MS) attempts = 0
    }
    lost()
  }

  const lost = () => {
    isOpen = false
    if (!isFailureShown) events.lines([lineOf('error', 'Failed to establish connection.')])
    isFailureShown = true
    events.closed(null)
    const delay = Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** attempts)
    attempts += 1
    // Jitter of up to half the delay, so that clients do not all reconnect at once.
    timer = setTimeout(attempt, delay * (1 - random() / 2))
  }

  attempt()
  return {
    /** @returns whether the message was sent. */
    send(text: string) {
      if (isOpen) connection?.send(text)
      return isOpen
    },
    /** Opens an ended connection again. `message` is sent as soon as it is open. */
    reopen(message?: string) {
      queuedMessage = message
      attempts = 0
      attempt()
    },
    /** Another connection to the server was lost, so this one may be half-open, which a browser does not report. */
    suspect() {
      isSuspect = isOpen
    },
    /** Replaces a connection that is suspect, unless the server would send its lines again. */
    replaceSuspect() {
      if (!isOpen || !isSuspect || (hasLines && nextLine === undefined)) return
      clearTimeout(jarTimer)
      connection?.close()
      isOpen = false
      attempt()
    },
    /** Whether a new connection can resume after the last line. */
    canResume: () => nextLine !== undefined,
    close() {
      clearTimeout(timer)
      clearTimeout(jarTimer)
      connection?.close()
    },
  }
}

function urlOf({ deployment, podName }: ConsoleTarget, nextLine: number | undefined) {
  const { protocol, host } = window.location
  const path = `${basePath()}/api/logs/${encodeURIComponent(deployment)}/${encodeURIComponent(podName)}`
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${path}${nextLine === undefined ? '' : `?since=${nextLine}`}`
}

import type { Services } from '../../../src/web/app/services'
import type { Draft } from '../../../src/web/drafts/draft'
import type { DraftDatabase } from '../../../src/web/drafts/draftDatabase'
import type { SendUpload, UploadListener, UploadRequest } from '../../../src/web/features/files/uploads/sendUpload'
import type { ConnectConsole, ConsoleListener } from '../../../src/web/sockets/reconnectingConsole'
import type { ConnectRealtime, RealtimeListener } from '../../../src/web/sockets/realtimeSocket'
import type { RealtimeMessage } from '../../../src/web/sockets/realtimeSlice'

/** Browser services in memory. */
export function fakeServices() {
  const cookies = new Map<string, string>()
  const stored = new Map<string, string>()
  const services: Services = {
    cookies: {
      get: (name) => cookies.get(name),
      set: (name, value) => cookies.set(name, value),
      remove: (name) => void cookies.delete(name),
    },
    storage: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, value) => void stored.set(key, value),
      removeItem: (key) => void stored.delete(key),
    },
    now: () => Date.now(),
    // Polls have exactly their mean interval.
    random: () => 0.5,
  }
  return { ...services, jar: cookies, stored }
}

/** A database of drafts in memory. Another page with the same one is the next visit. */
export function fakeDrafts() {
  const kept = new Map<string, Draft>()
  const database: DraftDatabase = {
    read: async () => [...kept.values()],
    async write(draft) {
      kept.set(draft.id, structuredClone(draft))
      return true
    },
    async remove(ids) {
      for (const id of ids) kept.delete(id)
    },
  }
  return { database, kept }
}

/** The server side of the real-time connection, controlled by the test. */
export function fakeRealtime() {
  const realtime = {
    opened: 0,
    closed: 0,
    sent: [] as RealtimeMessage[],
    online: true,
    listener: undefined as RealtimeListener | undefined,
  }
  const connect: ConnectRealtime = (listener) => {
    realtime.opened += 1
    realtime.listener = listener
    return {
      connected: () => realtime.online,
      send: (message) => void realtime.sent.push(message),
      close: () => {
        realtime.closed += 1
      },
    }
  }
  return Object.assign(realtime, { connect })
}

/** The server side of console channels, controlled by the test. */
export function fakeConsole() {
  const consoles = {
    urls: [] as string[],
    sent: [] as unknown[],
    closed: 0,
    /** All connections that are open, the oldest first. */
    connections: [] as { url: string; listener: ConsoleListener; sent: unknown[] }[],
    /** The listener of the newest connection. */
    listener: undefined as ConsoleListener | undefined,
    receive: (frame: object | string) =>
      consoles.listener?.received(typeof frame === 'string' ? frame : JSON.stringify(frame)),
  }
  const connect: ConnectConsole = (url, listener) => {
    consoles.urls.push(url)
    consoles.listener = listener
    const connection = { url, listener, sent: [] as unknown[] }
    consoles.connections.push(connection)
    return {
      send: (text) => {
        consoles.sent.push(JSON.parse(text))
        connection.sent.push(JSON.parse(text))
      },
      close: () => {
        consoles.closed += 1
        consoles.connections = consoles.connections.filter((other) => other !== connection)
        if (consoles.listener === listener) consoles.listener = undefined
      },
    }
  }
  return Object.assign(consoles, { connect })
}

/** The server side of uploads in the order in which they started, controlled by the test. */
export function fakeUploads() {
  const requests: (UploadRequest & { listener: UploadListener; aborted: boolean })[] = []
  const send: SendUpload = (request, listener) => {
    const begun = { ...request, listener, aborted: false }
    requests.push(begun)
    return () => {
      begun.aborted = true
    }
  }
  return {
    requests,
    send,
    /** The newest request for a file of this name. */
    of(name: string) {
      const found = requests.findLast((request) => request.name === name)
      if (!found) throw new Error(`${name} was not sent`)
      return found
    },
  }
}

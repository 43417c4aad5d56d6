import type { ConnectConsole } from './reconnectingConsole'

/** The browser sends the session's cookie with the handshake. */
export const connectConsole: ConnectConsole = (url, listener) => {
  const socket = new WebSocket(url)
  let isClosed = false
  const unlessClosed = (report: () => void) => isClosed || report()
  socket.onopen = () => unlessClosed(() => listener.opened())
  socket.onmessage = ({ data }) => unlessClosed(() => listener.received(data))
  socket.onerror = () => unlessClosed(() => listener.failed())
  socket.onclose = ({ code }) => unlessClosed(() => listener.closed(code))
  return {
    send: (text) => socket.send(text),
    close() {
      isClosed = true
      socket.close()
    },
  }
}

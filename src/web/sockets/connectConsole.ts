import type { ConnectConsole } from './reconnectingConsole'

/** The browser sends the session's cookie with the handshake. */
export const connectConsole: ConnectConsole = (url, listener) => {
  const socket = new WebSocket(url)
  let closed = false
  const unlessClosed = (report: () => void) => closed || report()
  socket.onopen = () => unlessClosed(() => listener.opened())
  socket.onmessage = ({ data }) => unlessClosed(() => listener.received(data))
  socket.onerror = () => unlessClosed(() => listener.failed())
  socket.onclose = ({ code }) => unlessClosed(() => listener.closed(code))
  return {
    send: (text) => socket.send(text),
    close() {
      closed = true
      socket.close()
    },
  }
}

import type { ConnectConsole } from './consoleLink'

/** The browser adds the session's cookie by itself. */
export const connectConsole: ConnectConsole = (url, listener) => {
  const socket = new WebSocket(url)
  let closed = false
  const unless = (tell: () => void) => closed || tell()
  socket.onopen = () => unless(() => listener.opened())
  socket.onmessage = ({ data }) => unless(() => listener.received(data))
  socket.onerror = () => unless(() => listener.failed())
  socket.onclose = ({ code }) => unless(() => listener.closed(code))
  return {
    send: (text) => socket.send(text),
    close() {
      closed = true
      socket.close()
    },
  }
}

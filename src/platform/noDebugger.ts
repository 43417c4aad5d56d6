import { close, url } from 'node:inspector'

/**
 * To be imported first by every process of the platform. Without a listener, Node.js answers SIGUSR1 by opening a
 * debugger to all programs of this machine, instances included, in which they can run code as the platform's user.
 */
process.on('SIGUSR1', () => undefined)

/** Closes a debugger that a signal opened while Node.js itself was starting. */
function closeDebugger(): void {
  if (url() !== undefined) close()
}

const isWanted = /(?:^|\s)--inspect(?!-port)/.test([...process.execArgv, process.env.NODE_OPTIONS].join(' '))
if (!isWanted) {
  closeDebugger()
  // A signal that arrived during the start may open the debugger only now, in the first turn of the event loop.
  setImmediate(closeDebugger)
}

import type { Middleware } from '@reduxjs/toolkit'
import { configureStore } from '@reduxjs/toolkit'
import { problemsSlice } from '../../../src/web/features/problems/problemsSlice'
import { createConsoleSocket } from '../../../src/web/sockets/consoleSocket'
import { consoleOpened, consoleSlice } from '../../../src/web/sockets/consoleSlice'
import { allLines } from '../../../src/web/sockets/lineBuffer'
import type { ConnectConsole } from '../../../src/web/sockets/reconnectingConsole'
import { fakeConsole } from './services'

export const lobby = { deployment: 'lobby', podName: 'lobby-1' }

/**
 * Makes a store with a console socket, whose connections and animation frames the test controls.
 * @param random what jitter is drawn from
 */
export function startConsole({ random = 0, connect }: { random?: number; connect?: ConnectConsole } = {}) {
  const far = fakeConsole()
  const frames: (() => void)[] = []
  const facts: { type: string; payload?: unknown }[] = []
  const note: Middleware = () => (next) => (action) => {
    facts.push(action as { type: string })
    return next(action)
  }
  const store = configureStore({
    reducer: { console: consoleSlice.reducer, problems: problemsSlice.reducer },
    middleware: (getDefault) =>
      getDefault().concat(
        note,
        createConsoleSocket(connect ?? far.connect, {
          onFrame: (run) => {
            frames.push(run)
            return () => void frames.splice(frames.indexOf(run), 1)
          },
          random: () => random,
        }),
      ),
  })
  const frame = () => frames.splice(0).forEach((run) => run())
  const state = () => store.getState().console
  return {
    store,
    far,
    facts,
    frames,
    frame,
    state,
    /** The content of the log window once all frames are drawn. */
    lines: () => {
      frame()
      return allLines(state().buffer).map(({ type, content }) => [type, content])
    },
    open() {
      store.dispatch(consoleOpened(lobby))
      far.listener?.opened()
    },
  }
}

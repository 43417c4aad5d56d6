import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { instanceOf } from './factories'
import { renderApp } from './renderApp'

export const lobby = instanceOf('3fa2c1-lobby')
/** Height of a line in pixels. */
export const ROW = 18

/** Renders the page of an instance with its console connected. */
export async function consolePage({
  stored = {},
  uid = lobby.uid,
  signedInAs = 'ann',
}: { stored?: Record<string, string>; uid?: string; signedInAs?: string } = {}) {
  const app = renderApp(`/instance/lobby/${uid}`, { signedInAs, stored })
  app.network.get('/api/deployments/lobby/instances').answers({ instances: [lobby, instanceOf('77e0d4-lobby')] })
  await waitFor(() => expect(app.console.listener).toBeDefined())
  act(() => app.console.listener?.opened())
  const print = async (...lines: string[]) => {
    const { next } = app.store.getState().console!.buffer
    act(() => app.console.receive({ type: 'message', content: lines.join('\n') }))
    await waitFor(() => expect(app.store.getState().console!.buffer.next).toBe(next + lines.length))
  }
  return { ...app, print }
}

export type User = Awaited<ReturnType<typeof consolePage>>['user']

export const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`)
export const field = () => screen.getByRole('textbox', { name: 'Command' })
export const searchField = () => screen.getByRole('textbox', { name: 'Search the console' })
/** Number of the current match, and of all. */
export const count = () => within(screen.getByRole('search')).getByRole('status').textContent
export const log = () => screen.getByRole('log', { name: 'Console output' })
export const rows = () => [...log().querySelectorAll('[data-line]')].map((row) => row.textContent)
export const tool = (name: string) => screen.getByRole('button', { name })
export const jump = () => screen.queryByRole('button', { name: /^(Jump|Paused)/ })
export const scrollTo = (top: number) => fireEvent.scroll(log(), { target: { scrollTop: top } })

/**
 * Mocks the layout that jsdom lacks: a log of 500 pixels with content of the given height.
 * @returns `resized`, which reports a new height of the log
 */
export function mockLogLayout(): { resized: () => void } {
  const layout = { resized: () => {} }
  class FakeResizeObserver {
    constructor(callback: () => void) {
      layout.resized = callback
    }
    observe() {}
    unobserve() {}
    disconnect() {}
  }
  const height = (pane: Element) => parseFloat(pane.querySelector<HTMLElement>('div')?.style.height ?? '0')
  const isPane = (element: Element) => element.getAttribute('role') === 'log'
  beforeEach(() => {
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockImplementation(function (this: Element) {
      return isPane(this) ? 500 : 0
    })
    jest.spyOn(Element.prototype, 'scrollHeight', 'get').mockImplementation(function (this: Element) {
      return isPane(this) ? Math.max(500, height(this)) : 0
    })
    globalThis.ResizeObserver = FakeResizeObserver as unknown as typeof ResizeObserver
  })
  afterEach(() => jest.restoreAllMocks())
  return layout
}

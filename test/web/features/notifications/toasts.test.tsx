import { act, render, screen } from '@testing-library/react'
import Modal from 'react-bootstrap/Modal'
import { notified } from '../../../../src/web/facts'
import { fakeClock, pass } from '../../../support/web/fakeClock'
import { notifications } from '../../../support/web/notifications'
import { renderApp } from '../../../support/web/renderApp'

beforeEach(fakeClock)
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

async function rendered() {
  const { store, user } = renderApp('/nowhere', { signedInAs: 'ann' })
  await screen.findByRole('region', { name: 'Notifications' })
  const notify = (...messages: string[]) =>
    act(() => {
      for (const message of messages) store.dispatch(notified('success', message))
    })
  return { store, notify, user }
}

/** Gives these elements a place in the window, from top to bottom; others have no height. */
function layOut(...places: [element: Element | null, top: number, bottom: number][]) {
  jest.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (this: Element) {
    const [, top = 0, bottom = 0] = places.find(([element]) => element === this) ?? []
    return { top, bottom, left: 0, right: 300 } as DOMRect
  })
}

test('a notification shows the beginning of a very long text', async () => {
  const { notify } = await rendered()
  // Chromium lays out 100,000 letters of this script for minutes.
  notify('กำ'.repeat(50_000))
  expect(notifications()).toEqual([`${'กำ'.repeat(250)}…`])
  notify('a'.repeat(500))
  expect(notifications()[1]).toBe('a'.repeat(500))
})

test('§3 a notification has the type success, danger, warning or info, and the matching style', async () => {
  const { store } = await rendered()
  for (const type of ['success', 'danger', 'warning', 'info'] as const) {
    act(() => void store.dispatch(notified(type, `of type ${type}`)))
    expect(screen.getByText(`of type ${type}`).parentElement).toHaveClass('toast', type)
  }
  expect(new Set(store.getState().notifications?.map(({ id }) => id)).size).toBe(4)
})

test('§2 a notification closes on its own after 5 seconds', async () => {
  const { notify } = await rendered()
  notify('Successfully restarted lobby')
  expect(notifications()).toEqual(['Successfully restarted lobby'])
  await pass(4900)
  expect(notifications()).toHaveLength(1)
  await pass(200)
  expect(notifications()).toEqual([])
})

test('§4 several notifications close one at a time, every 5 seconds, the oldest first', async () => {
  const { notify } = await rendered()
  notify('one', 'two', 'three')
  await pass(5100)
  expect(notifications()).toEqual(['two', 'three'])
  await pass(5000)
  expect(notifications()).toEqual(['three'])
  await pass(5000)
  expect(notifications()).toEqual([])
})

test('§4 auto-dismissal also applies to notifications that arrive later', async () => {
  const { notify } = await rendered()
  notify('one')
  await pass(20_000)
  notify('two')
  await pass(4900)
  expect(notifications()).toEqual(['two'])
  await pass(200)
  expect(notifications()).toEqual([])
})

test('§2 a notification can be dismissed manually, and the next one keeps its 5 seconds', async () => {
  const { notify, user } = await rendered()
  notify('one', 'two')
  await pass(3000)
  await user.click(screen.getAllByRole('button', { name: 'Dismiss' })[0]!)
  expect(notifications()).toEqual(['two'])
  await pass(4000)
  expect(notifications()).toEqual(['two'])
  await pass(1100)
  expect(notifications()).toEqual([])
})

test('screen readers announce new notifications politely', async () => {
  await rendered()
  expect(screen.getByRole('region', { name: 'Notifications' })).toHaveAttribute('aria-live', 'polite')
})

test('a notification does not cover the controls of the page', async () => {
  const { notify } = await rendered()
  const link = screen.getByRole('main').querySelector('a')
  const region = screen.getByRole('region', { name: 'Notifications' })
  layOut([region, 64, 112], [link, 70, 110])
  notify('one')
  expect(region.style.top).toBe('118px')
})

test('a notification does not cover an open dialog', async () => {
  const { notify } = await rendered()
  render(
    <Modal show>
      <p>Read this.</p>
    </Modal>,
  )
  const content = screen.getByRole('dialog').querySelector('.modal-content')
  const region = screen.getByRole('region', { name: 'Notifications', hidden: true })
  layOut([region, 64, 112], [content, 50, 500])
  notify('one')
  expect(region.style.top).toBe('508px')
})

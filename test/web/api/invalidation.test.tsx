import { act, screen, waitFor } from '@testing-library/react'
import { filesApi } from '../../../src/web/api/files'
import { pageShown, sessionEnded } from '../../../src/web/facts'
import { entryOf } from '../../support/web/factories'
import { filesPage, names } from '../../support/web/filesPage'

const LISTING = '/api/sftp/files'
afterEach(() => jest.useRealTimers())

const answer = (...files: string[]) => ({ files: files.map((name) => entryOf(name)), deploymentTypeIndex: null })

test('changes during an in-flight listing request cause exactly one refetch after the request completes', async () => {
  const { store, network } = await filesPage([entryOf('a.txt')])
  const slow = network.get(LISTING).answersLater(answer('a.txt', 'b.txt'))
  const changed = () => void store.dispatch(filesApi.util.invalidateTags(['Files']))
  act(changed)
  await waitFor(() => expect(slow.calls).toHaveLength(1))
  act(changed)
  act(changed)
  const next = network.get(LISTING).answers(answer('a.txt', 'b.txt', 'c.txt'))
  slow.release()
  await waitFor(() => expect(names()).toEqual(['a.txt', 'b.txt', 'c.txt']))
  expect(slow.calls).toHaveLength(1)
  expect(next.calls).toHaveLength(1)
})

test('a refetch that waits for a request in flight is dropped when the session ends', async () => {
  const { store, network } = await filesPage([entryOf('a.txt')])
  const slow = network.get(LISTING).answersLater(answer('a.txt'))
  const changed = () => void store.dispatch(filesApi.util.invalidateTags(['Files']))
  act(changed)
  await waitFor(() => expect(slow.calls).toHaveLength(1))
  act(changed)
  const next = network.get(LISTING).answers(401, {})
  await act(async () => void store.dispatch(sessionEnded('signedOut')))
  await screen.findByRole('textbox', { name: 'Username' })
  slow.release()
  await act(() => Promise.resolve())
  expect(Object.keys(store.getState().api.queries).filter((key) => key.startsWith('getFiles'))).toEqual([])
  expect(next.calls).toEqual([])
})

test('the poll for outside changes waits for the in-flight request', async () => {
  const { store, network } = await filesPage([entryOf('a.txt'), entryOf('b.txt')])
  jest.useFakeTimers({ advanceTimers: true })
  const slow = network.get(LISTING).answersLater(answer('a.txt', 'b.txt'))
  act(() => void store.dispatch(pageShown()))
  await waitFor(() => expect(slow.calls).toHaveLength(1))
  const next = network.get(LISTING).answers(answer('a.txt', 'b.txt', 'c.txt'))
  act(() => void store.dispatch(pageShown()))
  await act(() => jest.advanceTimersByTimeAsync(1000))
  expect(next.calls).toEqual([])
  slow.release()
  await waitFor(() => expect(next.calls).toHaveLength(1))
  await screen.findByText('c.txt')
})

import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { entryOf } from '../../../support/web/factories'
import { filesPage } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'
import { file, item, stored, uploading } from '../../../support/web/transfers'

const FAILED = 'Failed to upload files. Please try again.'

test('§7 an upload sends the file, its directory and the conflict rule', async () => {
  const chosen = file('new.jar')
  const { uploads, sends, answer, list } = await uploading([chosen], [entryOf('plugins/a')], '/files/plugins')
  await sends('new.jar')
  expect(uploads.of('new.jar')).toMatchObject({ name: 'new.jar', directory: '/nfsshare/plugins', onConflict: 'refuse' })
  expect(uploads.of('new.jar').token).toMatch(/\.signature$/)
  expect(uploads.of('new.jar').file).toBe(chosen)
  const listing = list([entryOf('plugins/a'), entryOf('plugins/new.jar')])
  await answer('new.jar', 200, stored('new.jar'))
  expect(await screen.findByText('1 of 1 uploaded')).toBeInTheDocument()
  await waitFor(() => expect(listing.calls).toHaveLength(1))
  expect(await screen.findByRole('row', { name: /new\.jar/ })).toBeVisible()
})

test('§2 Upload Files accepts several files', async () => {
  const { user } = await filesPage([])
  const input = screen.getByLabelText('Files to upload')
  expect(input).toHaveAttribute('multiple')
  const opened = jest.spyOn(HTMLInputElement.prototype, 'click').mockImplementation(() => {})
  await user.click(screen.getByRole('button', { name: 'Upload Files' }))
  expect(opened.mock.contexts).toEqual([input])
  opened.mockRestore()
})

test('three uploads run at a time; the others wait', async () => {
  const { names, answer, sends } = await uploading(['a', 'b', 'c', 'd', 'e'].map((name) => file(name)))
  await sends('c')
  expect(names()).toEqual(['a', 'b', 'c'])
  expect(await item('d')).toHaveTextContent('Waiting')
  await answer('b', 200, stored('b'))
  await sends('d')
  expect(names()).toEqual(['a', 'b', 'c', 'd'])
})

test('progress shows bytes sent for each file and in total, with rate and remaining time', async () => {
  const { uploads, sends, services, store, state } = await uploading([
    file('big.zip', 'x'.repeat(4096)),
    file('small.txt', 'x'.repeat(1024)),
  ])
  await sends('small.txt')
  await waitFor(() => expect(store.getState().uploads?.at).not.toBeNull())
  const start = store.getState().uploads?.at ?? 0
  jest.spyOn(services, 'now')
  jest.spyOn(Date, 'now').mockReturnValue(start + 1000)
  act(() => uploads.of('big.zip').listener.sent(1024))
  await waitFor(() => expect(state()).toMatchObject({ uploading: true, sent: 1024, total: 5120, progress: 0.2 }))
  expect(await item('big.zip')).toHaveTextContent('1.00 KB of 4.00 KB')
  expect(screen.getByRole('progressbar', { name: 'Progress of big.zip' })).toHaveAttribute('aria-valuenow', '25')
  expect(screen.getByRole('progressbar', { name: 'Total progress' })).toHaveAttribute('aria-valuenow', '20')
  expect(screen.getByText('1.00 KB of 5.00 KB, 1.00 KB/s, 4s left')).toBeVisible()
  jest.restoreAllMocks()
})

test('upload progress is throttled to a few store updates a second', async () => {
  const { uploads, sends, store } = await uploading([file('big.zip', 'x'.repeat(5000))])
  await sends('big.zip')
  await waitFor(() => expect(store.getState().uploads?.at).not.toBeNull())
  let changes = 0
  let before = store.getState().uploads
  const stop = store.subscribe(() => {
    if (store.getState().uploads !== before) changes += 1
    before = store.getState().uploads
  })
  act(() => {
    for (let sent = 1; sent <= 5000; sent++) uploads.of('big.zip').listener.sent(sent)
  })
  await waitFor(() =>
    expect(screen.getByRole('progressbar', { name: 'Progress of big.zip' })).toHaveAttribute('aria-valuenow', '100'),
  )
  stop()
  expect(changes).toBeLessThanOrEqual(2)
})

test('many small uploads are batched into fewer store updates than files', async () => {
  const count = 200
  const { uploads, store, state } = await uploading(Array.from({ length: count }, (_, at) => file(`f${at}`)))
  let changes = 0
  let before = store.getState().uploads
  const stop = store.subscribe(() => {
    if (store.getState().uploads !== before) changes += 1
    before = store.getState().uploads
  })
  for (let at = 0; at < count; at += 1) {
    await waitFor(() => uploads.of(`f${at}`))
    await act(async () => uploads.of(`f${at}`).listener.answered(200, stored(`f${at}`)))
  }
  await waitFor(() => expect(state()).toMatchObject({ uploading: false, done: count }))
  stop()
  expect(changes).toBeLessThan(count)
})

test.each([
  ['the server message', { success: false, message: 'The disk is full' }, 507, 'The disk is full'],
  ['the default text without a message', {}, 500, FAILED],
])(
  '§8 a failed upload shows %s in the panel and as a notification, and can be retried',
  async (_case, body, status, text) => {
    const { answer, sends, user, uploads, state } = await uploading([file('a.txt')])
    await sends('a.txt')
    await answer('a.txt', status, body)
    await waitFor(() => expect(notifications()).toEqual([text]))
    expect(await item('a.txt')).toHaveTextContent(text)
    expect(state()).toMatchObject({ uploading: false, error: text })
    await user.click(screen.getByRole('button', { name: 'Retry a.txt' }))
    await waitFor(() => expect(uploads.requests).toHaveLength(2))
    await answer('a.txt', 200, stored('a.txt'))
    expect(await screen.findByText('1 of 1 uploaded')).toBeInTheDocument()
    expect(state().error).toBeNull()
  },
)

test('§8 a lost connection is a failed upload', async () => {
  const { uploads, sends } = await uploading([file('a.txt')])
  await sends('a.txt')
  await act(async () => uploads.of('a.txt').listener.failed())
  await waitFor(() => expect(notifications()).toEqual([FAILED]))
})

test('several equal failures of one drop show one notification', async () => {
  const { answer, sends } = await uploading([file('a'), file('b')])
  await sends('b')
  await answer('a', 507, { message: 'The disk is full' })
  await answer('b', 507, { message: 'The disk is full' })
  await waitFor(() => expect(notifications()).toEqual(['The disk is full']))
})

test('neither a double click nor a held Enter on Cancel starts the upload again', async () => {
  const { uploads, sends, user, names } = await uploading([file('a'), file('b')])
  await sends('b')
  await user.dblClick(screen.getByRole('button', { name: 'Cancel a' }))
  expect(await item('a')).toHaveTextContent('Cancelled')
  act(() => screen.getByRole('button', { name: 'Cancel b' }).focus())
  await user.keyboard('{Enter>3/}')
  expect(await item('b')).toHaveTextContent('Cancelled')
  expect(names()).toEqual(['a', 'b'])
  expect(uploads.requests.every(({ aborted }) => aborted)).toBe(true)
})

test('a cancelled upload frees its slot for the next one; Cancel all cancels the rest', async () => {
  const { uploads, sends, user, names } = await uploading(['a', 'b', 'c', 'd', 'e'].map((name) => file(name)))
  await sends('c')
  await user.click(screen.getByRole('button', { name: 'Cancel a' }))
  expect(screen.getByRole('button', { name: 'Retry a' })).toHaveFocus()
  expect(uploads.of('a').aborted).toBe(true)
  await sends('d')
  expect(await item('a')).toHaveTextContent('Cancelled')
  await user.click(screen.getByRole('button', { name: 'Cancel all' }))
  await waitFor(() => expect(uploads.requests.every(({ aborted }) => aborted)).toBe(true))
  expect(names()).toEqual(['a', 'b', 'c', 'd'])
  // The second click of a double click meets the button that comes into its place.
  fireEvent.click(screen.getByRole('button', { name: 'Close' }), { detail: 2 })
  expect(await item('e')).toHaveTextContent('Cancelled')
  expect(notifications()).toEqual([])
})

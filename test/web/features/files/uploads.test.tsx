import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { sessionEnded } from '../../../../src/web/facts'
import { selectUploadState } from '../../../../src/web/features/files/uploads/uploadSlice'
import { entryOf } from '../../../support/web/factories'
import { filesPage } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'
import { asked, file, item, panel, stored } from '../../../support/web/transfers'

const FAILED = 'Failed to upload files. Please try again.'
async function uploading(files: File[], present = [entryOf('old.txt')], at = '/files') {
  const app = await filesPage(present, { at })
  const choose = (more: File[]) =>
    fireEvent.change(screen.getByLabelText('Files to upload'), { target: { files: more } })
  choose(files)
  await panel()
  const answer = (name: string, status: number, body: object | string) =>
    act(async () =>
      app.uploads.of(name).listener.answered(status, typeof body === 'string' ? body : JSON.stringify(body)),
    )
  const sends = (name: string) => waitFor(() => app.uploads.of(name))
  const names = () => app.uploads.requests.map((request) => request.name)
  const state = () => selectUploadState(app.store.getState())
  return { ...app, choose, answer, sends, names, state }
}

afterEach(() => jest.useRealTimers())

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
  expect(await item('e')).toHaveTextContent('Cancelled')
  expect(notifications()).toEqual([])
})

test('decisions §3: a name that exists in the listing asks before the upload is sent; Replace sends replace', async () => {
  const { uploads, user, sends } = await uploading([file('old.txt')])
  const dialog = await asked()
  expect(dialog).toHaveTextContent('"old.txt" exists already in /nfsshare.')
  expect(uploads.requests).toEqual([])
  await user.click(within(dialog).getByRole('button', { name: 'Replace' }))
  await sends('old.txt')
  expect(uploads.of('old.txt').onConflict).toBe('replace')
})

test('decisions §3: Keep both sends keepBoth under a free name; Skip sends nothing', async () => {
  const { uploads, user, sends } = await uploading(
    [file('a.txt'), file('b')],
    [entryOf('a.txt'), entryOf('a (2).txt'), entryOf('b')],
  )
  await user.click(within(await asked()).getByRole('button', { name: 'Keep both' }))
  await sends('a (3).txt')
  expect(uploads.of('a (3).txt').onConflict).toBe('keepBoth')
  await waitFor(() => expect(screen.getByRole('dialog')).toHaveTextContent('"b" exists'))
  await user.click(screen.getByRole('button', { name: 'Skip' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(await item('b')).toHaveTextContent('Skipped')
  expect(uploads.requests).toHaveLength(1)
})

test('an upload that is cancelled and retried during the lookup of a free name is sent once', async () => {
  const { uploads, user, network, sends } = await uploading([file('a.txt')], [entryOf('a.txt')])
  const looking = network.get('/api/sftp/files').answersLater({ files: [entryOf('a.txt')], deploymentTypeIndex: null })
  await user.click(within(await asked()).getByRole('button', { name: 'Keep both' }))
  await waitFor(() => expect(looking.calls).toHaveLength(1))
  await user.click(screen.getByRole('button', { name: 'Cancel a.txt', hidden: true }))
  await user.click(screen.getByRole('button', { name: 'Retry a.txt', hidden: true }))
  looking.release()
  await sends('a (2).txt')
  await act(async () => uploads.of('a (2).txt').listener.answered(200, stored('a (2).txt')))
  expect(await screen.findByText('1 of 1 uploaded')).toBeInTheDocument()
  expect(uploads.requests).toHaveLength(1)
})

test('decisions §3: an answer for all applies to current and later conflicts of the same upload', async () => {
  const { uploads, user, answer, sends } = await uploading(
    [file('a'), file('b'), file('late')],
    [entryOf('a'), entryOf('b')],
  )
  await sends('late')
  const dialog = await asked()
  await user.click(
    within(dialog).getByRole('checkbox', { name: 'Do this for all files of this upload (1 more so far)' }),
  )
  await user.click(within(dialog).getByRole('button', { name: 'Replace' }))
  await sends('b')
  expect(uploads.requests.map(({ name, onConflict }) => `${name} ${onConflict}`)).toEqual([
    'late refuse',
    'a replace',
    'b replace',
  ])
  await answer('late', 409, { code: 'CONFLICT', message: 'There is a "late" already' })
  await waitFor(() => expect(uploads.of('late').onConflict).toBe('replace'))
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
})

test('a response for all does not apply to the next upload', async () => {
  const { choose, user, sends } = await uploading([file('a'), file('b')], [entryOf('a'), entryOf('b')])
  await user.click(within(await asked()).getByRole('checkbox'))
  await user.click(screen.getByRole('button', { name: 'Skip' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  choose([file('a'), file('b')])
  await user.click(within(await asked()).getByRole('button', { name: 'Replace' }))
  await sends('a')
  await waitFor(() => expect(screen.getByRole('dialog')).toHaveTextContent('"b" exists'))
})

test('decisions §3: a 409 for a name that the listing did not contain asks, too', async () => {
  const { answer, sends, uploads, user } = await uploading([file('late')])
  await sends('late')
  await answer('late', 409, { code: 'CONFLICT', message: 'There is a "late" already' })
  await user.click(within(await asked()).getByRole('button', { name: 'Keep both' }))
  await waitFor(() => expect(uploads.of('late').onConflict).toBe('keepBoth'))
  await answer('late', 409, { code: 'CONFLICT', message: 'It is a directory' })
  await waitFor(() => expect(notifications()).toEqual(['It is a directory']))
})

test('uploads continue and stay visible on other pages; closing the tab asks for confirmation meanwhile', async () => {
  const { network, user, sends, answer } = await uploading([file('a')])
  await sends('a')
  network.shows([])
  await user.click(screen.getByRole('link', { name: 'Overview' }))
  await screen.findByRole('heading', { name: 'Network Overview' })
  expect(within(await panel()).getByText('a')).toBeVisible()
  const closes = () => window.dispatchEvent(new Event('beforeunload', { cancelable: true }))
  expect(closes()).toBe(false)
  await answer('a', 200, stored('a'))
  await screen.findByText('1 of 1 uploaded')
  await waitFor(() => expect(closes()).toBe(true))
  await user.click(screen.getByRole('button', { name: 'Close' }))
  expect(screen.queryByRole('region', { name: 'Transfers' })).not.toBeInTheDocument()
})

test('the transfers panel collapses 5 s after all uploads succeeded, unless it has hover or focus', async () => {
  const { sends, answer, user, choose } = await uploading([file('a')])
  await sends('a')
  jest.useFakeTimers({ advanceTimers: true })
  const rests = () => act(() => jest.advanceTimersByTimeAsync(5000))
  await answer('a', 200, stored('a'))
  expect(await screen.findByText('1 of 1 uploaded')).toBeVisible()
  const found = within(await panel())
  const head = found.getByRole('button', { name: 'Uploads' })
  const entries = () => found.queryAllByRole('listitem').length

  await user.hover(head)
  await rests()
  expect(entries()).toBe(1)
  await user.unhover(head)
  await rests()
  expect(entries()).toBe(0)
  expect(head).toHaveAttribute('aria-expanded', 'false')
  expect(found.getByText('1 of 1 uploaded')).toBeVisible()

  // The expanded panel stays open while it has focus.
  await user.click(head)
  await rests()
  expect(entries()).toBe(1)
  act(() => head.blur())
  await user.unhover(head)
  await rests()
  expect(entries()).toBe(0)

  // The next upload expands the panel, and a failure keeps it open.
  choose([file('b')])
  await sends('b')
  await answer('b', 500, {})
  await rests()
  expect(entries()).toBe(2)
})

test('the conflict dialog does not keep the transfers panel expanded', async () => {
  const { sends, answer, user } = await uploading([file('old.txt')])
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Replace' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  await sends('old.txt')
  act(() => (document.activeElement as HTMLElement).blur())
  jest.useFakeTimers({ advanceTimers: true })
  await answer('old.txt', 200, stored('old.txt'))
  await screen.findByText('1 of 1 uploaded')
  await act(() => jest.advanceTimersByTimeAsync(5000))
  expect(within(await panel()).queryByRole('listitem')).not.toBeInTheDocument()
})

test('logging out during uploads asks for confirmation', async () => {
  const { network, user, uploads, sends, store } = await uploading([file('a')])
  await sends('a')
  const logout = network.post('/api/auth/logout').answers({})
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  const question = await screen.findByRole('dialog', { name: 'Log out while uploading?' })
  await user.click(within(question).getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  expect(uploads.of('a').aborted).toBe(false)
  expect(logout.calls).toHaveLength(0)
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Logout' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(uploads.of('a').aborted).toBe(true)
  expect(store.getState().uploads?.isSignOutAsked).toBeUndefined()
})

test('logging out of an expired session during uploads shows no error', async () => {
  const { network, user, sends, store } = await uploading([file('a')])
  await sends('a')
  network.post('/api/auth/logout').answers(401)
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Logout' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(store.getState().notifications).toEqual([])
})

test('a failed logout shows a notification and keeps the uploads', async () => {
  const { network, user, uploads, sends } = await uploading([file('a')])
  await sends('a')
  network.post('/api/auth/logout').answers(503)
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Logout' }))
  await waitFor(() => expect(notifications()).toEqual(['Failed to log out']))
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
  expect(uploads.of('a').aborted).toBe(false)
})

test('logging out after all uploads have finished does not ask', async () => {
  const { network, user, sends, answer } = await uploading([file('a')])
  await sends('a')
  await answer('a', 200, stored('a'))
  await screen.findByText('1 of 1 uploaded')
  network.post('/api/auth/logout').answers({})
  await user.click(screen.getByRole('button', { name: 'Logout' }))
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
})

test('§6 a 401 for an upload ends the session, aborts all uploads and clears the list', async () => {
  const { uploads, sends, answer, store } = await uploading([file('a'), file('b')])
  await sends('b')
  await answer('a', 401, { message: 'No session' })
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
  expect(uploads.of('b').aborted).toBe(true)
  expect(store.getState().uploads?.ids).toEqual([])
})

test('signing out aborts uploads', async () => {
  const { uploads, sends, store } = await uploading([file('a')])
  await sends('a')
  act(() => void store.dispatch(sessionEnded('signedOut')))
  expect(uploads.of('a').aborted).toBe(true)
})

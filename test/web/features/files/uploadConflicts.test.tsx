import { act, screen, waitFor, within } from '@testing-library/react'
import { entryOf } from '../../../support/web/factories'
import { notifications } from '../../../support/web/notifications'
import { asked, file, item, stored, uploading } from '../../../support/web/transfers'

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

test.each(['Skip', 'Keep both', 'Replace'])(
  'a double click, and a held Enter, on %s answers for one file, not for the next',
  async (answer) => {
    const { user } = await uploading([file('a'), file('b'), file('c')], [entryOf('a'), entryOf('b'), entryOf('c')])
    const isAsked = async (name: string) =>
      waitFor(() => expect(screen.getByRole('dialog')).toHaveTextContent(`"${name}" exists already`))
    await isAsked('a')
    await user.dblClick(screen.getByRole('button', { name: answer }))
    await isAsked('b')
    act(() => screen.getByRole('button', { name: answer }).focus())
    await user.keyboard('{Enter>3/}')
    await isAsked('c')
  },
)

test('a held Escape skips one file', async () => {
  const { user } = await uploading([file('a'), file('b')], [entryOf('a'), entryOf('b')])
  await asked()
  await user.keyboard('{Escape>3/}')
  await waitFor(() => expect(screen.getByRole('dialog')).toHaveTextContent('"b" exists already'))
  expect(await item('b')).toHaveTextContent('Exists already')
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

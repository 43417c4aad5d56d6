import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { entryOf } from '../../../support/web/factories'
import { closed, recordFollowedLinks } from '../../../support/web/fileActions'
import { bar, box, filesPage, row } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'
import { problemsIn } from '../../../support/web/problems'

recordFollowedLinks()

/** Drags an entry over another one. @returns `drop`, which drops it there */
function dragOver(entry: string, target: string): { drop: () => void } {
  const dataTransfer = {
    setData: () => {},
    types: ['application/x-quarterdeck-entries'],
    effectAllowed: '',
    dropEffect: '',
  }
  fireEvent.dragStart(row(entry), { dataTransfer })
  fireEvent.dragOver(row(target), { dataTransfer })
  return { drop: () => void fireEvent.drop(row(target), { dataTransfer }) }
}

test('a destination that cannot be right replaces the failure of an earlier one', async () => {
  const { user, network } = await filesPage([entryOf('a/x')], { at: '/files/a' })
  network.post('/api/sftp/move').answers(404, { message: 'There is no /nfsshare/a/b.' })
  await user.click(screen.getByRole('checkbox', { name: 'Select all' }))
  await user.click(bar().getByRole('button', { name: 'Move' }))
  const dialog = within(await screen.findByRole('dialog', { name: 'Move Item' }))
  const submit = async (value: string) => {
    fireEvent.change(dialog.getByLabelText('Destination'), { target: { value } })
    await user.click(dialog.getByRole('button', { name: 'Move' }))
  }
  await submit('b')
  expect(await dialog.findByText('There is no /nfsshare/a/b.')).toBeVisible()
  await submit('../..')
  expect(dialog.getByText('This leads out of the shared area')).toBeVisible()
  expect(dialog.queryByText('There is no /nfsshare/a/b.')).toBeNull()
})

test('the destination is completed with the directories that are there', async () => {
  const { user, network, store } = await filesPage([entryOf('a/world/'), entryOf('a/worn.txt'), entryOf('a/x')], {
    at: '/files/a',
  })
  await user.click(screen.getByRole('checkbox', { name: 'Select x' }))
  await user.click(bar().getByRole('button', { name: 'Move' }))
  const field = within(await screen.findByRole('dialog', { name: 'Move Item' })).getByLabelText('Destination')
  const offered = () => [...(field as HTMLInputElement).list!.options].map(({ value }) => value)
  const type = (value: string) => fireEvent.change(field, { target: { value } })
  await waitFor(() => expect(offered()).toEqual(['world']))
  const { calls } = network
    .get('/api/sftp/files')
    .answers({ files: [entryOf('a/world/region/'), entryOf('a/world/data/')], deploymentTypeIndex: null })
  type('world/')
  await waitFor(() => expect(offered()).toEqual(['world/region', 'world/data']))
  type('world/re')
  expect(offered()).toEqual(['world/region'])
  // A directory that does not exist is not requested.
  type('nowhere/')
  expect(offered()).toEqual([])
  type('../../')
  expect(offered()).toEqual([])
  expect(calls).toHaveLength(1)
  expect(problemsIn(store)).toEqual([])
  expect(screen.getByText('1 selected')).toBeInTheDocument()
})

test('§2, §5 a move target is relative to the directory, with repeated slashes collapsed, and has a preview', async () => {
  const { user, network } = await filesPage([entryOf('a/b/x'), entryOf('a/b/y')], { at: '/files/a/b' })
  const move = network.post('/api/sftp/move').answers({})
  await user.click(screen.getByRole('checkbox', { name: 'Select all' }))
  await user.click(bar().getByRole('button', { name: 'Move' }))
  const dialog = await screen.findByRole('dialog', { name: 'Move 2 Items' })
  const type = (value: string) => fireEvent.change(within(dialog).getByLabelText('Destination'), { target: { value } })
  type('../../..')
  await user.click(within(dialog).getByRole('button', { name: 'Move' }))
  expect(within(dialog).getByText('This leads out of the shared area')).toBeVisible()
  type('//old///worlds/')
  expect(within(dialog).getByText('/nfsshare/a/b/old/worlds/')).toBeVisible()
  type('..//c')
  expect(within(dialog).getByText('/nfsshare/a/c/')).toBeVisible()
  await user.click(within(dialog).getByRole('button', { name: 'Move' }))
  await closed()
  expect(move.calls.map(({ body }) => body)).toEqual([
    { sourcePath: '/nfsshare/a/b/x', targetPath: '/nfsshare/a/c/x' },
    { sourcePath: '/nfsshare/a/b/y', targetPath: '/nfsshare/a/c/y' },
  ])
})

test('§9 the move dialog lists up to 5 names', async () => {
  const { user } = await filesPage(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => entryOf(name)))
  await user.click(screen.getByRole('checkbox', { name: 'Select all' }))
  await user.click(bar().getByRole('button', { name: 'Move' }))
  const dialog = await screen.findByRole('dialog', { name: 'Move 7 Items' })
  expect(
    within(dialog)
      .getAllByRole('listitem')
      .map((one) => one.textContent),
  ).toEqual(['a', 'b', 'c', 'd', 'e', '...and 2 more items'])
})

test("§8 a failed move shows 'Failed to move files' with the reason and keeps the failed items in the dialog", async () => {
  const { user, network } = await filesPage([entryOf('a'), entryOf('b')])
  network.post('/api/sftp/move').answers(409, { message: 'There is a "a" already' })
  await user.click(box('a'))
  await user.click(box('b'))
  await user.click(bar().getByRole('button', { name: 'Move' }))
  const dialog = await screen.findByRole('dialog', { name: 'Move 2 Items' })
  await user.type(within(dialog).getByLabelText('Destination'), 'old')
  await user.click(within(dialog).getByRole('button', { name: 'Move' }))
  expect((await within(dialog).findByRole('alert')).textContent).toBe('Failed to move filesThere is a "a" already')
  expect(
    within(dialog)
      .getAllByRole('listitem')
      .map((one) => one.textContent),
  ).toEqual(['a', 'b'])
})

test("§8 a failed drop shows 'Failed to move files', and the problem log records the items and the reason", async () => {
  const { network, store } = await filesPage([entryOf('dir/'), entryOf('a')])
  network.post('/api/sftp/move').answers(409, { message: 'There is a "a" already' })
  dragOver('a', 'dir').drop()
  await waitFor(() => expect(notifications()).toEqual(['Failed to move files']))
  expect(problemsIn(store)).toEqual(['Failed to move files to /nfsshare/dir: /nfsshare/a: There is a "a" already'])
})

test('dragging an entry onto a directory moves it together with the other selected entries', async () => {
  const { user, network } = await filesPage([entryOf('dir/'), entryOf('a'), entryOf('b')])
  const move = network.post('/api/sftp/move').answers({})
  await user.click(box('a'))
  await user.click(box('b'))
  const { drop } = dragOver('a', 'dir')
  expect(row('dir')).toHaveAttribute('data-drop', 'over')
  expect(screen.queryByText('Drop files here to upload')).not.toBeInTheDocument()
  drop()
  await waitFor(() =>
    expect(move.calls.map(({ body }) => (body as { targetPath: string }).targetPath).sort()).toEqual([
      '/nfsshare/dir/a',
      '/nfsshare/dir/b',
    ]),
  )
})

import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { entryOf } from '../../../support/web/factories'
import { five, menu, recordFollowedLinks } from '../../../support/web/fileActions'
import { bar, box, filesPage, names, row, rows, selected } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'

recordFollowedLinks()

test("§2 a selection shows 'N selected' with Delete, Move, Download, Archive and a close button", async () => {
  const { user } = await five()
  await user.click(box('a'))
  await user.click(box('c'))
  expect(bar().getByText('2 selected')).toBeVisible()
  for (const name of ['Delete', 'Move', 'Download', 'Archive'])
    expect(bar().getByRole('button', { name })).toBeVisible()
  await user.click(bar().getByRole('button', { name: 'Clear the selection' }))
  expect(screen.queryByRole('region', { name: 'Selection' })).not.toBeInTheDocument()
})

test('Shift+click selects a range, Ctrl+A selects all entries, Space toggles an entry', async () => {
  const { user } = await five()
  await user.click(box('b'))
  fireEvent.click(row('d'), { shiftKey: true })
  expect(selected()).toEqual(['b', 'c', 'd'])
  fireEvent.keyDown(row('d'), { key: 'a', ctrlKey: true })
  expect(selected()).toEqual(['a', 'b', 'c', 'd', 'e'])
  fireEvent.keyDown(row('d'), { key: ' ' })
  expect(selected()).toEqual(['a', 'b', 'c', 'e'])
  fireEvent.keyDown(row('d'), { key: 'a', metaKey: true })
  expect(bar().getByText('5 selected')).toBeVisible()
})

test('Shift+click on a checkbox selects the range, and every checkbox shows its state', async () => {
  const { user } = await five()
  await user.click(box('b'))
  await user.keyboard('{Shift>}')
  await user.click(box('d'))
  expect(bar().getByText('3 selected')).toBeVisible()
  for (const name of ['b', 'c', 'd']) expect(box(name)).toBeChecked()
  // Inside a range that is already selected nothing changes, and every checkbox stays checked.
  await user.click(box('c'))
  await user.click(box('b'))
  await user.keyboard('{/Shift}')
  expect(selected()).toEqual(['b', 'c', 'd'])
  for (const name of ['b', 'c', 'd']) expect(box(name)).toBeChecked()
})

test('Shift with the arrow keys extends the selection', async () => {
  const { user } = await five()
  act(() => rows()[1]?.focus())
  await user.keyboard('{Shift>}{ArrowDown}{ArrowDown}{/Shift}')
  expect(selected()).toEqual(['b', 'c', 'd'])
})

test('Shift with an arrow key after Ctrl+A keeps all entries selected', async () => {
  const { user } = await five()
  act(() => rows()[1]?.focus())
  await user.keyboard('{Control>}a{/Control}{Shift>}{ArrowDown}{/Shift}')
  expect(selected()).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('the header checkbox selects all listed entries or none', async () => {
  const { user } = await five()
  const all = screen.getByRole('checkbox', { name: 'Select all' })
  await user.click(box('a'))
  expect(all).toHaveProperty('indeterminate', true)
  await user.click(all)
  expect(selected()).toHaveLength(5)
  await user.click(all)
  expect(selected()).toEqual([])
})

test('§4 the selection is cleared after each listing refresh and after archiving several items', async () => {
  const { user, network } = await five()
  await user.click(box('a'))
  await user.click(screen.getByRole('button', { name: 'Refresh' }))
  await waitFor(() => expect(selected()).toEqual([]))
  await user.click(box('a'))
  await user.click(box('b'))
  network.get('/api/sftp/files').answersLater({})
  const archive = network
    .post('/api/sftp/archive-multiple')
    .answers({ files: [{ name: 'archive-1.tar.gz', path: '/nfsshare/archive-1.tar.gz' }] })
  await user.click(bar().getByRole('button', { name: 'Archive' }))
  await waitFor(() => expect(selected()).toEqual([]))
  expect(archive.calls[0]?.body).toEqual({
    files: [
      { path: '/nfsshare/a', name: 'a' },
      { path: '/nfsshare/b', name: 'b' },
    ],
  })
  await waitFor(() => expect(notifications()).toEqual(['Created archive-1.tar.gz']))
})

test('closing a dialog returns focus to the row it was opened from', async () => {
  const { user } = await filesPage([entryOf('a'), entryOf('b')])
  await menu(user, 'b', 'Rename')
  await user.keyboard('{Escape}')
  await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
  await waitFor(() => expect(row('b')).toHaveFocus())
})

test('after a deletion, move or rename, focus moves to the row in its place', async () => {
  const { user, network, list } = await five()
  const paused = network.delete('/api/sftp/file').answers({})
  await menu(user, 'c', 'Delete')
  list(['a', 'b', 'd', 'e'].map((name) => entryOf(name)))
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
  await waitFor(() => expect(names()).toEqual(['a', 'b', 'd', 'e']))
  expect(paused.calls).toHaveLength(1)
  await waitFor(() => expect(row('d')).toHaveFocus())

  network.post('/api/sftp/move').answers({})
  await menu(user, 'b', 'Rename')
  list(['a', 'd', 'e', 'new'].map((name) => entryOf(name)))
  fireEvent.change(await screen.findByLabelText('New name'), { target: { value: 'new' } })
  await user.click(screen.getByRole('button', { name: 'Rename' }))
  await waitFor(() => expect(names()).toEqual(['a', 'd', 'e', 'new']))
  await waitFor(() => expect(row('new')).toHaveFocus())

  await user.click(box('e'))
  await user.click(box('new'))
  await user.click(bar().getByRole('button', { name: 'Move' }))
  const dialog = await screen.findByRole('dialog')
  await user.type(within(dialog).getByLabelText('Destination'), 'old')
  list(['a', 'd'].map((name) => entryOf(name)))
  await user.click(within(dialog).getByRole('button', { name: 'Move' }))
  await waitFor(() => expect(names()).toEqual(['a', 'd']))
  await waitFor(() => expect(row('d')).toHaveFocus())
})

test('opening a directory by keyboard moves focus to its first row', async () => {
  const { user, list } = await filesPage([entryOf('dir/'), entryOf('a')])
  row('dir').focus()
  list([entryOf('dir/x'), entryOf('dir/y')])
  await user.keyboard('{Enter}')
  await waitFor(() => expect(names()).toEqual(['x', 'y']))
  await waitFor(() => expect(row('x')).toHaveFocus())
  list([])
  await user.click(screen.getByRole('link', { name: 'Root' }))
  await screen.findByText('This directory is empty')
  await waitFor(() => expect(screen.getByRole('heading', { name: 'Files' })).toHaveFocus())
})

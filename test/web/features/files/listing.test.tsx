import { act, screen, waitFor, within } from '@testing-library/react'
import { filesApi } from '../../../../src/web/api/files'
import { pageShown } from '../../../../src/web/facts'
import { isArchived } from '../../../../src/web/features/files/table/fileEntries'
import { entryOf } from '../../../support/web/factories'
import { filesPage, names, row } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'
import { problemsIn } from '../../../support/web/problems'
import { renderApp } from '../../../support/web/renderApp'

beforeEach(() => jest.spyOn(console, 'warn').mockImplementation(() => {}))
afterEach(() => jest.restoreAllMocks())

const trail = () =>
  within(screen.getByRole('navigation', { name: 'Directory' }))
    .getAllByRole('listitem')
    .map((item) => item.textContent)

test.each([
  ['a.tar', true],
  ['a.gz', true],
  ['a.zip', true],
  ['a.rar', true],
  ['a.7z', true],
  ['a.tar.gz', true],
  ['a.zip.txt', false],
  ['zip', false],
  ['directory.zip/', false],
])('§3 %s is an archive: %p', (path, expected) => {
  expect(isArchived(entryOf(path))).toBe(expected)
})

test('the count and total size are those of the files that the filter shows', async () => {
  const { user, list } = await filesPage([
    entryOf('world/', { size: 4096 }),
    entryOf('server.jar', { size: 5120, isText: false }),
    entryOf('notes.txt', { size: 1024 }),
  ])
  expect(screen.getByText('3 items · 6.00 KB')).toHaveRole('status')
  await user.type(screen.getByRole('searchbox', { name: 'Filter by name' }), 'notes')
  expect(screen.getByText('1 of 3 items · 1.00 KB')).toBeVisible()
  await user.clear(screen.getByRole('searchbox'))
  list([entryOf('world/region/')])
  await user.click(screen.getByRole('link', { name: 'world' }))
  // The size of a directory is not known.
  expect(await screen.findByText('1 item')).toBeVisible()
})

test('the title of a directory differs from the title of a page of the same name', async () => {
  await filesPage([entryOf('x')], { at: '/files/plugins/lobby' })
  expect(document.title).toBe('lobby · Files · Quarterdeck')
})

test("§2 an empty directory reads 'This directory is empty'", async () => {
  await filesPage([])
  expect(screen.getByText('This directory is empty')).toBeVisible()
})

test('§2 the breadcrumb starts at Root and links to every parent directory', async () => {
  const { listing } = await filesPage([entryOf('a/b/c/')], { at: '/files/a/b' })
  expect(trail()).toEqual(['Root', 'a', 'b'])
  expect(screen.getByText('b', { selector: '[aria-current]' })).toHaveAttribute('aria-current', 'page')
  expect(screen.getByRole('link', { name: 'Root' })).toHaveAttribute('href', '/files')
  expect(screen.getByRole('link', { name: 'a' })).toHaveAttribute('href', '/files/a')
  expect(listing.calls[0]?.query).toBe('?path=%2Fnfsshare%2Fa%2Fb')
})

test.each(['a#b', 'what?', '100%', '%2F', 'my world', 'π 🚢', "it's", 'a&b=c+d'])(
  'decisions §3: a directory named %p opens under its URL-encoded path',
  async (name) => {
    const { user, list } = await filesPage([entryOf(`${name}/`)])
    const inside = list([entryOf(`${name}/inside.txt`)])
    await user.click(screen.getByRole('link', { name }))
    await waitFor(() => expect(names()).toEqual(['inside.txt']))
    expect(window.location.pathname).toBe(`/files/${encodeURIComponent(name)}`)
    expect(new URLSearchParams(inside.calls[0]?.query).get('path')).toBe(`/nfsshare/${name}`)
    expect(trail()).toEqual(['Root', name])
  },
)

test('§2 a click anywhere in the row of a directory opens it', async () => {
  const { user, list } = await filesPage([entryOf('plugins/')])
  list([entryOf('plugins/x')])
  await user.click(within(row('plugins')).getByLabelText('Directory'))
  await waitFor(() => expect(window.location.pathname).toBe('/files/plugins'))
})

test('§2, §3 archives, links out of the shared area and binary files cannot be opened', async () => {
  const { store, user } = await filesPage([
    entryOf('a.tar.gz'),
    entryOf('b.zip'),
    entryOf('c.7z'),
    entryOf('d.rar'),
    entryOf('e.jar', { isText: false }),
    entryOf('out', { type: 'l', isText: false }),
  ])
  expect(screen.queryByRole('button', { name: /^(a|b|c|d|e|out)/ })).not.toBeInTheDocument()
  for (const name of ['a.tar.gz', 'b.zip', 'e.jar', 'out']) await user.click(screen.getByText(name))
  expect(store.getState().files?.dialog).toBeNull()
  expect(screen.getByText('leads out of the shared area')).toBeVisible()
})

test.each([
  ['server.jar', false, ['Download', 'Rename', 'Archive', 'Delete']],
  ['world.zip', true, ['Download', 'Rename', 'Unarchive', 'Delete']],
])('a click on %s, which cannot be edited, says so and offers what can be done', async (name, isText, offered) => {
  const { user } = await filesPage([entryOf(name, { isText }), entryOf('notes.txt')])
  await user.click(screen.getByText(name))
  expect(await screen.findByRole('menu')).toHaveAccessibleDescription('This file cannot be edited here')
  expect(screen.getAllByRole('menuitem').map(({ textContent }) => textContent)).toEqual(offered)
  await user.keyboard('{Escape}')
  expect(screen.queryByRole('menu')).not.toBeInTheDocument()
  act(() => row(name).focus())
  await user.keyboard('{Enter}')
  await waitFor(() => expect(screen.getByRole('menuitem', { name: 'Download' })).toHaveFocus())
  await user.keyboard('{Escape}')
  await user.click(screen.getByRole('button', { name: 'Actions for notes.txt' }))
  expect(await screen.findByRole('menu')).not.toHaveAccessibleDescription()
})

test('the filter narrows the file table, shows the count and resets in another directory', async () => {
  const { user, list } = await filesPage([
    entryOf('world/'),
    entryOf('server.properties'),
    entryOf('Server.jar', { isText: false }),
  ])
  const field = screen.getByRole('searchbox', { name: 'Filter by name' })
  await user.type(field, 'server')
  expect(names()).toEqual(['Server.jar', 'server.properties'])
  expect(screen.getByText(/^2 of 3 items/)).toBeVisible()
  await user.type(field, 'x')
  expect(screen.getByText('No name contains this')).toBeVisible()
  await user.click(screen.getByRole('button', { name: 'Clear the filter' }))
  expect(names()).toHaveLength(3)
  list([entryOf('world/level.dat')])
  await user.type(field, 'world')
  await user.click(screen.getByRole('link', { name: 'world' }))
  await waitFor(() => expect(names()).toEqual(['level.dat']))
})

test('the file table shows a skeleton while the listing loads', async () => {
  const { network } = renderApp('/files', { signedInAs: 'ann' })
  const { release } = network.get('/api/sftp/files').answersLater({ files: [entryOf('a')], deploymentTypeIndex: null })
  expect(await screen.findByText('Loading the files')).toBeInTheDocument()
  release()
  expect(await screen.findByRole('grid')).toBeVisible()
  expect(screen.queryByText('Loading the files')).not.toBeInTheDocument()
})

test('§8 a failed listing appears only in the problem log, and Refresh retries it', async () => {
  const { network, user, store } = renderApp('/files', { signedInAs: 'ann' })
  network.get('/api/sftp/files').answers(503, { message: 'The shared area is not mounted' })
  await waitFor(() =>
    expect(problemsIn(store)).toEqual(['Failed to load files of /nfsshare: The shared area is not mounted']),
  )
  expect(notifications()).toEqual([])
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
  expect(screen.queryByText('Loading the files')).not.toBeInTheDocument()
  network.get('/api/sftp/files').answers({ files: [entryOf('a')], deploymentTypeIndex: null })
  await user.click(screen.getByRole('button', { name: 'Refresh' }))
  expect(await screen.findByRole('grid')).toBeVisible()
})

test('a listing that failed leaves a Retry button in the place of the files', async () => {
  const { network, user } = renderApp('/files', { signedInAs: 'ann' })
  network.get('/api/sftp/files').isUnreachable()
  const retry = await screen.findByRole('button', { name: 'Retry' })
  const { release, calls } = network.get('/api/sftp/files').answersLater({ files: [entryOf('a')] })
  await user.click(retry)
  // It keeps its place and the focus, and does not call twice.
  await waitFor(() => expect(retry).toHaveAttribute('aria-disabled', 'true'))
  expect(retry).toHaveFocus()
  await user.click(retry)
  expect(calls).toHaveLength(1)
  release()
  expect(await screen.findByRole('grid')).toBeVisible()
  expect(screen.queryByRole('button', { name: 'Retry' })).not.toBeInTheDocument()
  expect(row('a')).toHaveFocus()
})

test('§8 a listing of a missing directory is in the problem log, too', async () => {
  const { network, store } = renderApp('/files/gone', { signedInAs: 'ann' })
  network.get('/api/sftp/files').answers(404, { message: 'There is no such directory.' })
  await screen.findByRole('heading', { name: 'Directory Not Found' })
  expect(problemsIn(store)).toEqual(['Failed to load files of /nfsshare/gone: There is no such directory.'])
})

test('§3 only the type d is a directory; every other type letter is a file', async () => {
  const { user, store, network } = await filesPage([entryOf('notes.txt', { type: 'f' as '-' })])
  const ticket = network.post('/api/sftp/download-ticket').answers({ token: 'ticket' })
  const follow = jest.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => {})
  await user.click(screen.getByRole('button', { name: 'Actions for notes.txt' }))
  await user.click(await screen.findByRole('menuitem', { name: 'Download' }))
  await waitFor(() => expect(follow).toHaveBeenCalled())
  expect(ticket.calls.map(({ body }) => body)).toEqual([{ path: '/nfsshare/notes.txt' }])
  network.get('/api/sftp/file/content').answers({ content: '' })
  await user.click(screen.getByRole('button', { name: 'notes.txt' }))
  expect(store.getState().files?.dialog).toMatchObject({ kind: 'edit' })
})

test('a new connection, which is told that all is synchronised, does not request a missing directory again', async () => {
  const { network, store, realtime } = renderApp('/files/gone', { signedInAs: 'ann' })
  const { calls } = network.get('/api/sftp/files').answers(404, { message: 'There is no such directory.' })
  await screen.findByRole('heading', { name: 'Directory Not Found' })
  const tells = (event: string) =>
    act(() => void realtime.listener?.received({ id: 'CLIENT_FILE_SYNC', data: { event } }))
  tells('sync_completed')
  await act(() => new Promise((resolve) => setTimeout(resolve, 400)))
  expect(calls).toHaveLength(1)
  expect(problemsIn(store)).toHaveLength(1)
  // A sync may bring the directory.
  tells('sync_started')
  tells('sync_completed')
  await waitFor(() => expect(calls).toHaveLength(2))
})

test("a missing directory shows 'Directory Not Found' with links back", async () => {
  const { network, user } = renderApp('/files/worlds/gone', { signedInAs: 'ann' })
  network.get('/api/sftp/files').answers(404, { message: 'There is no such directory.' })
  expect(await screen.findByRole('heading', { name: 'Directory Not Found' })).toBeVisible()
  expect(screen.getByRole('link', { name: 'Up to worlds' })).toHaveAttribute('href', '/files/worlds')
  expect(screen.getByRole('link', { name: 'Back to Root' })).toHaveAttribute('href', '/files')
  for (const name of ['Create New', 'Upload Files']) {
    const button = screen.getByRole('button', { name })
    expect(button).toHaveAttribute('aria-disabled', 'true')
    expect(button).toHaveAccessibleDescription('There is no such directory.')
  }
  await user.click(screen.getByRole('button', { name: 'Create New' }))
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
  expect(notifications()).toEqual([])
})

test.each([
  [null, true],
  [0, true],
  [1, false],
  [2, true],
])('§2 in a directory of deployment type %p, the sync indicator is shown: %p', async (deploymentTypeIndex, shown) => {
  await filesPage([entryOf('a')], { deploymentTypeIndex })
  expect(screen.queryAllByText('Synced')).toHaveLength(shown ? 1 : 0)
})

test('§4 the sync indicator follows sync_started and sync_completed and describes problems to screen readers', async () => {
  const { realtime } = await filesPage([entryOf('a')])
  const tells = (data: object) => act(() => void realtime.listener?.received({ id: 'CLIENT_FILE_SYNC', data }))
  expect(screen.getByRole('button', { name: /Synced/ })).toHaveClass('synced')
  tells({ event: 'sync_started' })
  const button = screen.getByRole('button', { name: /Syncing/ })
  expect(button).not.toHaveClass('synced')
  tells({ event: 'sync_started', problem: 'The disk of the node is full' })
  expect(button).toHaveAccessibleDescription(/The disk of the node is full/)
  tells({ event: 'sync_completed' })
  expect(screen.getByRole('button', { name: /Synced/ })).not.toHaveAccessibleDescription(/disk/)
})

test("the sync indicator reads 'Not connected' without a connection", async () => {
  const { realtime } = await filesPage([entryOf('a')])
  const button = screen.getByRole('button', { name: /Synced/ })
  act(() => void realtime.listener?.connected())
  expect(button).not.toHaveAccessibleDescription(/no connection/)
  act(() => void realtime.listener?.disconnected())
  expect(button).toHaveAccessibleDescription(/no connection to the server/)
  expect(button).toHaveTextContent('Not connected')
  act(() => void realtime.listener?.connected())
  expect(button).toHaveTextContent('Synced')
})

test('§4 a completed sync refetches the listing and clears the selection', async () => {
  const { realtime, user, list } = await filesPage([entryOf('a'), entryOf('b')])
  await user.click(screen.getByRole('checkbox', { name: 'Select a' }))
  list([entryOf('a'), entryOf('c')])
  act(() => void realtime.listener?.received({ id: 'CLIENT_FILE_SYNC', data: { event: 'sync_completed' } }))
  await waitFor(() => expect(names()).toEqual(['a', 'c']))
  expect(screen.queryByText('1 selected')).not.toBeInTheDocument()
})

test('decisions §18: an unchanged listing (304) keeps the selection', async () => {
  const { user, network, store } = await filesPage([entryOf('a')])
  const both = { files: [entryOf('a'), entryOf('b')], deploymentTypeIndex: null }
  network.get('/api/sftp/files').answersVersion('"1"', both)
  await user.click(screen.getByRole('button', { name: 'Refresh' }))
  await waitFor(() => expect(names()).toEqual(['a', 'b']))
  await user.click(screen.getByRole('checkbox', { name: 'Select a' }))
  const again = network.get('/api/sftp/files').answersVersion('"1"', both)
  act(() => void store.dispatch(pageShown()))
  await waitFor(() => expect(again.calls).toHaveLength(1))
  await user.click(screen.getByRole('button', { name: 'Refresh' }))
  await waitFor(() => expect(again.calls).toHaveLength(2))
  await waitFor(() => expect(screen.getByRole('button', { name: 'Refresh' })).toHaveAttribute('aria-disabled', 'false'))
  expect(screen.getByText('1 selected')).toBeVisible()
  expect(names()).toEqual(['a', 'b'])

  network.get('/api/sftp/files').answersVersion('"2"', { ...both, files: [entryOf('a'), entryOf('b', { size: 9 })] })
  act(() => void store.dispatch(pageShown()))
  await waitFor(() => expect(screen.queryByText('1 selected')).not.toBeInTheDocument())
})

test('a change in another directory does not refetch the listing or clear its selection', async () => {
  const { user, network, store } = await filesPage([entryOf('a'), entryOf('plugins/')])
  await user.click(screen.getByRole('checkbox', { name: 'Select a' }))
  const { calls } = network.get('/api/sftp/files').answers({ files: [], deploymentTypeIndex: null })
  network.post('/api/sftp/file').answers({})
  await act(() => store.dispatch(filesApi.endpoints.createFile.initiate('/nfsshare/plugins/new.yml')))
  expect(calls).toEqual([])
  expect(screen.getByText('1 selected')).toBeVisible()
  await act(() => store.dispatch(filesApi.endpoints.createFile.initiate('/nfsshare/new.yml')))
  await waitFor(() => expect(calls).toHaveLength(1))
})

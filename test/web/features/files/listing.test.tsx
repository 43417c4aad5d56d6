import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { filesApi } from '../../../../src/web/api/files'
import { pageShown } from '../../../../src/web/facts'
import { isArchived } from '../../../../src/web/features/files/table/fileEntries'
import { entryOf } from '../../../support/web/factories'
import { filesPage, names, row, rows } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'
import { problemsIn } from '../../../support/web/problems'
import { renderApp } from '../../../support/web/renderApp'

beforeEach(() => jest.spyOn(console, 'warn').mockImplementation(() => {}))
afterEach(() => jest.restoreAllMocks())

const trail = () =>
  within(screen.getByRole('navigation', { name: 'Directory' }))
    .getAllByRole('listitem')
    .map((item) => item.textContent)

test('§2 directories come first in natural name order, for every sort order', async () => {
  const { user } = await filesPage([
    entryOf('b.txt', { size: 1 }),
    entryOf('world10/'),
    entryOf('A.txt', { size: 3000 }),
    entryOf('world2/'),
    entryOf('file 07.log', { size: 5 }),
    entryOf('file 7b.log', { size: 5 }),
  ])
  expect(names()).toEqual(['world2', 'world10', 'A.txt', 'b.txt', 'file 07.log', 'file 7b.log'])
  await user.click(screen.getByRole('button', { name: 'Name' }))
  expect(names()).toEqual(['world10', 'world2', 'file 7b.log', 'file 07.log', 'b.txt', 'A.txt'])
  expect(screen.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'descending')
  await user.click(screen.getByRole('button', { name: 'Size' }))
  expect(names()).toEqual(['world2', 'world10', 'b.txt', 'file 07.log', 'file 7b.log', 'A.txt'])
  expect(screen.getByRole('columnheader', { name: 'Size' })).toHaveAttribute('aria-sort', 'ascending')
  expect(screen.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'none')
})

test('§2 the file table has a checkbox, Name, Size, Last Modified and a menu for each row', async () => {
  const { user } = await filesPage([entryOf('notes.txt'), entryOf('world.zip')])
  expect(screen.getAllByRole('columnheader').map((head) => head.textContent)).toEqual([
    '',
    'Name',
    'Size',
    'Last Modified',
    'Actions',
  ])
  for (const [name, archiving] of [
    ['notes.txt', 'Archive'],
    ['world.zip', 'Unarchive'],
  ] as const) {
    expect(within(row(name)).getByRole('checkbox', { name: `Select ${name}` })).toBeInTheDocument()
    await user.click(screen.getByRole('button', { name: `Actions for ${name}` }))
    const menu = row(name).querySelector<HTMLElement>('.dropdown-menu')!
    expect(
      within(menu)
        .getAllByRole('menuitem')
        .map((item) => item.textContent),
    ).toEqual(['Download', 'Rename', archiving, 'Delete'])
    await user.keyboard('{Escape}')
  }
})

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

test('Last Modified sorts by time', async () => {
  const { user } = await filesPage([
    entryOf('new', { modifyTime: 3 }),
    entryOf('old', { modifyTime: 1 }),
    entryOf('mid', { modifyTime: 2 }),
  ])
  await user.click(screen.getByRole('button', { name: 'Last Modified' }))
  expect(names()).toEqual(['old', 'mid', 'new'])
})

test('§2, §9 a row shows name, size and time; a directory has no size', async () => {
  await filesPage([
    entryOf('world/'),
    entryOf('server.jar', { size: 1536, isText: false, modifyTime: Date.UTC(2026, 10, 3, 12) }),
  ])
  const cells = within(row('server.jar'))
    .getAllByRole('gridcell')
    .map((cell) => cell.textContent)
  expect(cells[1]).toBe('server.jar')
  expect(cells[2]).toBe('1.50 KB')
  expect(row('server.jar').querySelector('time')).toHaveAttribute('datetime', '2026-11-03T12:00:00.000Z')
  expect(within(row('world')).getByLabelText('Directory')).toHaveTextContent('–')
})

test('Last Modified is relative for seven days and then a date, with the exact time as tooltip', async () => {
  const DAY_MS = 86_400_000
  const times = { recent: Date.now() - 6.5 * DAY_MS, old: Date.now() - 8 * DAY_MS, future: Date.now() + DAY_MS }
  await filesPage(Object.entries(times).map(([name, modifyTime]) => entryOf(name, { modifyTime })))
  const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
  const time = (name: string) => row(name).querySelector('time')!
  expect(time('recent')).toHaveTextContent('6 days ago')
  expect(time('old')).toHaveTextContent(date.format(times.old))
  expect(time('future')).toHaveTextContent(date.format(times.future))
  for (const [name, at] of Object.entries(times)) expect(time(name)).toHaveAttribute('title', exact.format(at))
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

test('the sort menu offers every order in both directions and agrees with the column heads', async () => {
  const { user, store } = await filesPage([
    entryOf('a.txt', { size: 2, modifyTime: 2 }),
    entryOf('b.txt', { size: 1, modifyTime: 3 }),
    entryOf('c.txt', { size: 3, modifyTime: 1 }),
  ])
  const choose = async (order: string) => {
    await user.click(screen.getByRole('button', { name: /^Sort:/ }))
    await user.click(screen.getByRole('menuitemradio', { name: order }))
  }
  await user.click(screen.getByRole('button', { name: 'Sort: Name, A to Z' }))
  expect(store.getState().files?.menu).toBe('sort')
  expect(screen.getAllByRole('menuitemradio').map((item) => item.textContent)).toEqual([
    'Name, A to Z',
    'Name, Z to A',
    'Size, smallest first',
    'Size, largest first',
    'Last Modified, oldest first',
    'Last Modified, newest first',
  ])
  expect(screen.getByRole('menuitemradio', { checked: true })).toHaveTextContent('Name, A to Z')
  await user.keyboard('{Escape}')
  for (const [order, expected] of [
    ['Name, Z to A', 'cba'],
    ['Size, smallest first', 'bac'],
    ['Size, largest first', 'cab'],
    ['Last Modified, oldest first', 'cab'],
    ['Last Modified, newest first', 'bac'],
  ] as const) {
    await choose(order)
    expect(
      names()
        .map((name) => name?.[0])
        .join(''),
    ).toBe(expected)
    expect(screen.getByRole('button', { name: `Sort: ${order}` })).toBeVisible()
  }
  expect(screen.getByRole('columnheader', { name: 'Last Modified' })).toHaveAttribute('aria-sort', 'descending')
})

test('rows are 40 pixels high, or 32 if the user chose compact rows, which the browser remembers', async () => {
  const { user, services } = await filesPage([entryOf('a'), entryOf('b')])
  expect(row('b').style.top).toBe('40px')
  await user.click(screen.getByRole('button', { name: 'Compact', pressed: false }))
  expect(row('b').style.top).toBe('32px')
  expect(screen.getByRole('button', { name: 'Compact' })).toHaveAttribute('aria-pressed', 'true')
  expect(services.stored.get('files-density')).toBe('compact')
  await user.click(screen.getByRole('button', { name: 'Comfortable' }))
  expect(row('b').style.top).toBe('40px')
  expect(services.stored.get('files-density')).toBe('comfortable')
})

test('the density of the last visit applies from the first row on', async () => {
  const { network } = renderApp('/files', { signedInAs: 'ann', stored: { 'files-density': 'compact' } })
  network.get('/api/sftp/files').answers({ files: [entryOf('a'), entryOf('b')], deploymentTypeIndex: null })
  await screen.findByRole('grid')
  expect(row('b').style.top).toBe('32px')
})

test('a change of the density keeps the first visible row', async () => {
  const { user } = await filesPage(Array.from({ length: 1000 }, (_, index) => entryOf(`f${index}`)))
  const grid = screen.getByRole('grid')
  grid.scrollTop = 500 * 40
  fireEvent.scroll(grid)
  await user.click(screen.getByRole('button', { name: 'Compact' }))
  expect(grid.scrollTop).toBe(500 * 32)
  expect(row('f500')).toBeInTheDocument()
})

test('rows are 48 pixels high for fingers and in small windows, whatever the density', async () => {
  const query = Object.assign(new EventTarget(), { matches: true }) as MediaQueryList
  jest.spyOn(window, 'matchMedia').mockReturnValue(query)
  await filesPage([entryOf('a'), entryOf('b')])
  expect(row('b').style.top).toBe('48px')
})

test('the title of a directory differs from the title of a page of the same name', async () => {
  await filesPage([entryOf('x')], { at: '/files/plugins/lobby' })
  expect(document.title).toBe('lobby · Files · Quarterdeck')
})

test('a file time outside the calendar range is shown as a dash', async () => {
  await filesPage([
    entryOf('far', { modifyTime: 9e15 }),
    entryOf('none', { modifyTime: undefined as unknown as number }),
    entryOf('now', { modifyTime: Date.UTC(2026, 10, 3, 12) }),
  ])
  expect(['far', 'none'].map((name) => within(row(name)).getAllByRole('gridcell')[3]?.textContent)).toEqual(['–', '–'])
  expect(row('now').querySelector('time')).toHaveAttribute('datetime', '2026-11-03T12:00:00.000Z')
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

test('a listing of 100,000 entries renders only visible rows and exposes the total count to screen readers', async () => {
  const files = Array.from({ length: 100_000 }, (_, index) => entryOf(`region.${index}.mca`, { isText: false }))
  const { user } = await filesPage(files)
  const grid = screen.getByRole('grid')
  expect(grid).toHaveAttribute('aria-rowcount', '100001')
  expect(rows().length).toBeLessThan(50)
  expect(names()[0]).toBe('region.0.mca')

  grid.scrollTop = 50_000 * 40
  fireEvent.scroll(grid)
  expect(row('region.50000.mca')).toHaveAttribute('aria-rowindex', '50002')
  expect(rows().length).toBeLessThan(50)

  rows()[0]?.focus()
  await user.keyboard('{End}')
  expect(row('region.99999.mca')).toHaveFocus()
  expect(rows().length).toBeLessThan(50)
  await user.keyboard('{ArrowUp}{ArrowUp}{Home}{ArrowDown}')
  expect(row('region.1.mca')).toHaveFocus()
}, 60_000)

test('the focused row stays rendered when it is scrolled out of view', async () => {
  await filesPage(Array.from({ length: 1000 }, (_, index) => entryOf(`f${index}`)))
  const grid = screen.getByRole('grid')
  act(() => rows()[3]?.focus())
  grid.scrollTop = 500 * 40
  fireEvent.scroll(grid)
  expect(row('f3')).toHaveFocus()
  expect(row('f500')).toBeInTheDocument()
})

test('arrow keys move between rows, Enter opens a row, and only one row is in the tab order', async () => {
  const { user, list } = await filesPage([entryOf('a/'), entryOf('b/'), entryOf('c.txt')])
  act(() => row('a').focus())
  await user.keyboard('{ArrowDown}')
  expect(row('b')).toHaveFocus()
  expect(rows().map(({ tabIndex }) => tabIndex)).toEqual([-1, 0, -1])
  await user.tab()
  expect(screen.getByRole('checkbox', { name: 'Select b' })).toHaveFocus()
  await user.keyboard('{ArrowUp}')
  expect(row('a')).toHaveFocus()
  list([entryOf('a/x')])
  await user.keyboard('{Enter}')
  await waitFor(() => expect(window.location.pathname).toBe('/files/a'))
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

test('§8 a listing of a missing directory is in the problem log, too', async () => {
  const { network, store } = renderApp('/files/gone', { signedInAs: 'ann' })
  network.get('/api/sftp/files').answers(404, { message: 'There is no such directory.' })
  await screen.findByRole('heading', { name: 'Directory not found' })
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

test("a missing directory shows 'Directory not found' with links back", async () => {
  const { network, user } = renderApp('/files/worlds/gone', { signedInAs: 'ann' })
  network.get('/api/sftp/files').answers(404, { message: 'There is no such directory.' })
  expect(await screen.findByRole('heading', { name: 'Directory not found' })).toBeVisible()
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

import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { entryOf } from '../../../support/web/factories'
import { filesPage, names, row, rows } from '../../../support/web/filesPage'
import { renderApp } from '../../../support/web/renderApp'

beforeEach(() => jest.spyOn(console, 'warn').mockImplementation(() => {}))
afterEach(() => jest.restoreAllMocks())

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

test('a file time outside the calendar range is shown as a dash', async () => {
  await filesPage([
    entryOf('far', { modifyTime: 9e15 }),
    entryOf('none', { modifyTime: undefined as unknown as number }),
    entryOf('now', { modifyTime: Date.UTC(2026, 10, 3, 12) }),
  ])
  expect(['far', 'none'].map((name) => within(row(name)).getAllByRole('gridcell')[3]?.textContent)).toEqual(['–', '–'])
  expect(row('now').querySelector('time')).toHaveAttribute('datetime', '2026-11-03T12:00:00.000Z')
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

import { act, fireEvent, screen, waitFor, within } from '@testing-library/react'
import { HttpResponse } from 'msw'
import { deploymentOf, entryOf } from '../../../support/web/factories'
import { bar, box, filesPage, names, notifications, row, rows, selected } from '../../../support/web/filesPage'
import { problemsIn } from '../../../support/web/problems'

let followed: { href: string; name: string }[] = []
beforeEach(() => {
  followed = []
  jest.spyOn(console, 'warn').mockImplementation(() => {})
  jest.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    followed.push({ href: this.getAttribute('href') ?? '', name: this.download })
  })
})
afterEach(() => jest.restoreAllMocks())

type Page = Awaited<ReturnType<typeof filesPage>>

const five = () => filesPage(['a', 'b', 'c', 'd', 'e'].map((name) => entryOf(name)))
const menu = async (user: { click: (element: Element) => Promise<void> }, name: string, action: string) => {
  await user.click(screen.getByRole('button', { name: `Actions for ${name}` }))
  await user.click(await screen.findByRole('menuitem', { name: action }))
}
const closed = () => waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument())
const paths = (calls: { query: string }[]) => calls.map(({ query }) => new URLSearchParams(query).get('path')).sort()

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

test.each([
  ['File', 'File name', 'Please enter a file name', 'File name contains invalid characters'],
  ['Directory', 'Directory name', 'Please enter a directory name', 'Directory name contains invalid characters'],
])('§5 a new %s requires a valid name', async (tab, label, missing, invalid) => {
  const { user, network } = await five()
  const create = network.post(tab === 'File' ? '/api/sftp/file' : '/api/sftp/directory').answers({})
  await user.click(screen.getByRole('button', { name: 'Create New' }))
  await user.click(screen.getByRole('tab', { name: tab }))
  const submit = () => user.click(screen.getByRole('button', { name: 'Create' }))
  await submit()
  expect(screen.getByText(missing)).toBeVisible()
  for (const name of ['a<', 'a>', 'a:', 'a"', 'a/b', 'a\\', 'a|', 'a?', 'a*', 'a\u0007', '.', '.. ']) {
    fireEvent.change(screen.getByLabelText(label), { target: { value: name } })
    expect(screen.getByText(invalid)).toBeVisible()
  }
  await submit()
  expect(create.calls).toEqual([])
  fireEvent.change(screen.getByLabelText(label), { target: { value: 'new one' } })
  await submit()
  await closed()
  expect(create.calls[0]?.body).toEqual({ path: '/nfsshare/new one', ...(tab === 'File' && { content: '' }) })
})

test.each([
  ['File', 'Failed to create file', '/api/sftp/file'],
  ['Directory', 'Failed to create directory', '/api/sftp/directory'],
])('§8 a failed creation of a %s shows %p with the reason and keeps the name', async (tab, text, call) => {
  const { user, network } = await five()
  network.post(call).answers(409, { message: 'There is a "x" already' })
  await user.click(screen.getByRole('button', { name: 'Create New' }))
  await user.click(screen.getByRole('tab', { name: tab }))
  await user.type(screen.getByRole('textbox', { name: `${tab} name` }), 'x')
  await user.click(screen.getByRole('button', { name: 'Create' }))
  expect((await screen.findByRole('alert')).textContent).toBe(`${text}There is a "x" already`)
  expect(screen.getByRole('textbox', { name: `${tab} name` })).toHaveValue('x')
})

test('§5 renaming shows the exact validation messages and moves the file to the new name', async () => {
  const { user, network } = await five()
  const move = network.post('/api/sftp/move').answers({})
  await menu(user, 'b', 'Rename')
  const field = await screen.findByLabelText('New name')
  const submit = () => user.click(screen.getByRole('button', { name: 'Rename' }))
  const type = (value: string) => fireEvent.change(field, { target: { value } })
  expect(field).toHaveValue('b')
  await submit()
  expect(screen.getByText('New name must be different')).toBeVisible()
  type(' ')
  expect(screen.getByText('Name cannot be empty')).toBeVisible()
  for (const name of ['a<', 'a>', 'a:', 'a"', 'a/b', 'a\\', 'a|', 'a?', 'a*', 'a\u0007']) {
    type(name)
    expect(screen.getByText('Name contains invalid characters')).toBeVisible()
  }
  type('new')
  await submit()
  await closed()
  expect(move.calls.map(({ body }) => body)).toEqual([{ sourcePath: '/nfsshare/b', targetPath: '/nfsshare/new' }])
})

test.each([
  [{ message: 'There is a "new" already' }, 'Failed to renameThere is a "new" already'],
  [{}, 'Failed to rename. Please try again.'],
])('§8 a rename that fails with %j shows %p', async (body, text) => {
  const { user, network } = await five()
  network.post('/api/sftp/move').answers(409, body)
  await menu(user, 'b', 'Rename')
  fireEvent.change(await screen.findByLabelText('New name'), { target: { value: 'new' } })
  await user.click(screen.getByRole('button', { name: 'Rename' }))
  expect((await screen.findByRole('alert')).textContent).toBe(text)
})

test('§2 the delete dialog lists the first 5 names with two warnings and sends one request per item', async () => {
  const { user, network } = await filesPage([
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => entryOf(name)),
    entryOf('world/'),
  ])
  network.get('/api/deployments').answers(503)
  const files = network.delete('/api/sftp/file').answers({})
  const directories = network.delete('/api/sftp/directory').answers({})
  await user.click(screen.getByRole('checkbox', { name: 'Select all' }))
  await user.click(bar().getByRole('button', { name: 'Delete' }))
  const dialog = await screen.findByRole('dialog', { name: 'Delete 7 Items' })
  expect(
    within(dialog)
      .getAllByRole('listitem')
      .map((one) => one.textContent),
  ).toEqual(['world', 'a', 'b', 'c', 'd', '...and 2 more items'])
  expect(within(dialog).getByText('Directories are deleted with all their contents.')).toBeVisible()
  expect(within(dialog).getByText('This action cannot be undone.')).toBeVisible()
  await user.click(within(dialog).getByRole('button', { name: 'Delete' }))
  await closed()
  expect(paths(directories.calls)).toEqual(['/nfsshare/world'])
  expect(paths(files.calls)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `/nfsshare/${name}`))
})

test('the delete dialog names deployments whose data directory would be deleted', async () => {
  const { user, network } = await filesPage([entryOf('worker/'), entryOf('games/'), entryOf('work/'), entryOf('file')])
  const at = (name: string, dataDirectory: string) => ({ ...deploymentOf(name), dataDirectory })
  network
    .get('/api/deployments')
    .answers({ deployments: [at('worker', '/worker'), at('lobby', 'games/lobby/'), at('other', '/worker/inner')] })
  await user.click(screen.getByRole('checkbox', { name: 'Select all' }))
  await user.click(bar().getByRole('button', { name: 'Delete' }))
  const dialog = await screen.findByRole('dialog', { name: 'Delete 4 Items' })
  await within(dialog).findByText('"worker" is the directory of the deployment worker')
  expect([...dialog.querySelectorAll('p')].map((line) => line.textContent)).toEqual([
    'Are you sure you want to delete:',
    '"games" holds the directory of the deployment lobby',
    '"worker" is the directory of the deployment worker',
    '"worker" holds the directory of the deployment other',
    'Directories are deleted with all their contents.',
    'This action cannot be undone.',
  ])
})

test('deleting only files requests no deployments', async () => {
  const { user, network } = await five()
  const { calls } = network.get('/api/deployments').answers({ deployments: [] })
  await menu(user, 'a', 'Delete')
  await screen.findByRole('dialog', { name: 'Delete File' })
  expect(calls).toEqual([])
})

test('§8 after a partial deletion failure the dialog lists the remaining items for a retry', async () => {
  const { user, network } = await filesPage([entryOf('locked/'), entryOf('a')])
  network.get('/api/deployments').answers({ deployments: [] })
  network.delete('/api/sftp/file').answers({})
  network.delete('/api/sftp/directory').answers(403, { message: 'It is in use' })
  await user.click(screen.getByRole('checkbox', { name: 'Select all' }))
  await user.click(bar().getByRole('button', { name: 'Delete' }))
  await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete' }))
  expect((await screen.findByRole('alert')).textContent).toBe('Failed to delete filesIt is in use')
  expect(
    within(screen.getByRole('dialog'))
      .getAllByRole('listitem')
      .map((one) => one.textContent),
  ).toEqual(['locked'])
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

test.each([
  [
    'creating',
    'Creating...',
    '/api/sftp/file',
    async ({ user }: Page) => {
      await user.click(screen.getByRole('button', { name: 'Create New' }))
      await user.type(await screen.findByLabelText('File name'), 'new{Enter}')
    },
  ],
  [
    'deleting',
    'Deleting...',
    '/api/sftp/file',
    async ({ user }: Page) => {
      await menu(user, 'a', 'Delete')
      await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Delete' }))
    },
  ],
  [
    'moving',
    'Moving...',
    '/api/sftp/move',
    async ({ user }: Page) => {
      await user.click(box('a'))
      await user.click(bar().getByRole('button', { name: 'Move' }))
      await user.type(await screen.findByLabelText('Destination'), 'old{Enter}')
    },
  ],
  [
    'renaming',
    'Renaming...',
    '/api/sftp/move',
    async ({ user }: Page) => {
      await menu(user, 'a', 'Rename')
      await user.type(await screen.findByLabelText('New name'), '2{Enter}')
    },
  ],
])('§4 while %s is in flight, the dialog reads %p and stays open', async (_flag, text, path, begin) => {
  const page = await five()
  const { release } = page.network[text === 'Deleting...' ? 'delete' : 'post'](path).answersLater({})
  await begin(page)
  expect(await screen.findByRole('button', { name: text })).toHaveAttribute('aria-busy', 'true')
  release()
  await closed()
})

test('§4 the Download and Archive buttons show progress while their request is in flight', async () => {
  const { user, network } = await five()
  URL.createObjectURL = () => 'blob:1'
  URL.revokeObjectURL = () => {}
  network.get('/api/sftp/jobs').answers({ jobs: [] })
  await user.click(box('a'))
  await user.click(box('b'))
  for (const [name, path] of [
    ['Download', 'download-multiple'],
    ['Archive', 'archive-multiple'],
  ] as const) {
    const { release } = network.post(`/api/sftp/${path}`).answersLater({ files: [] })
    const button = bar().getByRole('button', { name })
    await user.click(button)
    await waitFor(() => expect(button).toHaveAttribute('aria-busy', 'true'))
    expect(button.querySelector('.spinner-border')).not.toBeNull()
    release()
    if (name === 'Download') await waitFor(() => expect(button).toHaveAttribute('aria-busy', 'false'))
    else await waitFor(() => expect(screen.queryByRole('region', { name: 'Transfers' })).not.toBeInTheDocument())
  }
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
  const dataTransfer = {
    setData: () => {},
    types: ['application/x-quarterdeck-entries'],
    effectAllowed: '',
    dropEffect: '',
  }
  fireEvent.dragStart(row('a'), { dataTransfer })
  fireEvent.dragOver(row('dir'), { dataTransfer })
  fireEvent.drop(row('dir'), { dataTransfer })
  await waitFor(() => expect(notifications()).toEqual(['Failed to move files']))
  expect(problemsIn(store)).toEqual(['Failed to move files to /nfsshare/dir: /nfsshare/a: There is a "a" already'])
})

test('dragging an entry onto a directory moves it together with the other selected entries', async () => {
  const { user, network } = await filesPage([entryOf('dir/'), entryOf('a'), entryOf('b')])
  const move = network.post('/api/sftp/move').answers({})
  await user.click(box('a'))
  await user.click(box('b'))
  const dataTransfer = {
    setData: () => {},
    types: ['application/x-quarterdeck-entries'],
    effectAllowed: '',
    dropEffect: '',
  }
  fireEvent.dragStart(row('a'), { dataTransfer })
  fireEvent.dragOver(row('dir'), { dataTransfer })
  expect(row('dir')).toHaveAttribute('data-drop', 'over')
  expect(screen.queryByText('Drop files here to upload')).not.toBeInTheDocument()
  fireEvent.drop(row('dir'), { dataTransfer })
  await waitFor(() =>
    expect(move.calls.map(({ body }) => (body as { targetPath: string }).targetPath).sort()).toEqual([
      '/nfsshare/dir/a',
      '/nfsshare/dir/b',
    ]),
  )
})

test('decisions §2: a single file is downloaded with a ticket that never enters the store', async () => {
  const { user, network, store } = await filesPage([entryOf('my file#1.zip')])
  const ticket = network.post('/api/sftp/download-ticket').answers({ token: 'ticket-canary' })
  await menu(user, 'my file#1.zip', 'Download')
  await waitFor(() =>
    expect(followed).toEqual([
      { href: '/api/sftp/download?path=%2Fnfsshare%2Fmy%20file%231.zip&token=ticket-canary', name: 'my file#1.zip' },
    ]),
  )
  expect(ticket.calls[0]?.body).toEqual({ path: '/nfsshare/my file#1.zip' })
  expect(JSON.stringify(store.getState())).not.toContain('ticket-canary')
})

test('decisions §2: a download falls back to the session token if the server has no tickets', async () => {
  const { user, network } = await filesPage([entryOf('a')])
  network.post('/api/sftp/download-ticket').answers(404)
  await menu(user, 'a', 'Download')
  await waitFor(() => expect(followed[0]?.href).toMatch(/token=.*signature$/))
})

test('§8 a failed download shows a notification', async () => {
  const { user, network } = await filesPage([entryOf('a')])
  network.post('/api/sftp/download-ticket').answers(503)
  await menu(user, 'a', 'Download')
  await waitFor(() => expect(notifications()).toEqual(['Failed to download file']))
})

test.each([
  [['a', 'b'], 'files.zip'],
  [['world'], 'world.zip'],
])('§7 %j is downloaded as %s', async (chosen, zip) => {
  const { user, network, store } = await filesPage([entryOf('world/'), entryOf('a'), entryOf('b')])
  const saved: Blob[] = []
  URL.createObjectURL = (blob) => `blob:${saved.push(blob as Blob)}`
  URL.revokeObjectURL = () => {}
  const call = network
    .post('/api/sftp/download-multiple')
    .answersWith(() => new HttpResponse('zip-canary', { headers: { 'content-type': 'application/zip' } }))
  for (const name of chosen) await user.click(box(name))
  await user.click(bar().getByRole('button', { name: 'Download' }))
  await waitFor(() => expect(followed).toEqual([{ href: 'blob:1', name: zip }]))
  expect(call.calls[0]?.body).toEqual({ files: chosen.map((name) => ({ path: `/nfsshare/${name}`, name })) })
  expect(await saved[0]?.text()).toBe('zip-canary')
  expect(JSON.stringify(store.getState())).not.toContain('canary')
})

test('§7 a single item is archived, and an archive extracted, by its path', async () => {
  const { user, network } = await filesPage([entryOf('world/'), entryOf('a.zip', { isText: false })])
  network.get('/api/sftp/jobs').answers({ jobs: [] })
  const archive = network.post('/api/sftp/archive').answers({ files: [] })
  await menu(user, 'world', 'Archive')
  await waitFor(() => expect(archive.calls.map(({ body }) => body)).toEqual([{ path: '/nfsshare/world' }]))
  const unarchive = network.post('/api/sftp/unarchive').answers({ files: [] })
  await menu(user, 'a.zip', 'Unarchive')
  await waitFor(() => expect(unarchive.calls.map(({ body }) => body)).toEqual([{ path: '/nfsshare/a.zip' }]))
  await waitFor(() => expect(notifications()).toEqual(['Archived 1 item', 'Extracted a.zip']))
})

test('§8 failed archives, extractions and downloads appear only in the problem log; a 401 ends the session', async () => {
  const { user, network, store } = await filesPage([entryOf('world/'), entryOf('a.zip', { isText: false })])
  network.get('/api/sftp/jobs').answers({ jobs: [] })
  network.post('/api/sftp/archive').answers(507, { message: 'The disk is full' })
  await menu(user, 'world', 'Archive')
  await waitFor(() => expect(problemsIn(store)).toEqual(['Failed to archive 1 item: The disk is full']))
  network.post('/api/sftp/unarchive').answers(400)
  await menu(user, 'a.zip', 'Unarchive')
  await waitFor(() => expect(problemsIn(store)[0]).toBe('Failed to unarchive a.zip: The server gave no reason.'))
  network.post('/api/sftp/download-multiple').answers(503)
  await menu(user, 'world', 'Download')
  await waitFor(() => expect(problemsIn(store)[0]).toBe('Failed to download files: The server gave no reason.'))
  expect(problemsIn(store)).toHaveLength(3)
  expect(notifications()).toEqual([])
  expect(screen.queryByRole('alert')).not.toBeInTheDocument()
  network.post('/api/sftp/download-multiple').answers(401)
  await menu(user, 'world', 'Download')
  expect(await screen.findByRole('heading', { name: 'Sign In' })).toBeVisible()
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

test('a running archive shows its progress and can be cancelled', async () => {
  const { user, network } = await filesPage([entryOf('world/')])
  const { release } = network
    .post('/api/sftp/archive')
    .answersLater(409, { code: 'CANCELLED', message: 'The archive was cancelled.' })
  network.get('/api/sftp/jobs').answers({
    jobs: [
      { id: 'j/1', kind: 'archive', paths: ['/nfsshare/world'], done: 1024, total: 4096, entry: 'region/r.0.mca' },
    ],
  })
  const cancel = network.delete('/api/sftp/jobs/j%2F1').answers({})
  await menu(user, 'world', 'Archive')
  expect(await screen.findByText('1.00 KB of 4.00 KB region/r.0.mca')).toBeVisible()
  expect(screen.getByRole('progressbar', { name: 'Progress of world' })).toHaveAttribute('aria-valuenow', '25')
  await user.click(screen.getByRole('button', { name: 'Cancel world' }))
  await waitFor(() => expect(cancel.calls).toHaveLength(1))
  release()
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Transfers' })).not.toBeInTheDocument())
  // A cancelled archive is not a failure.
  expect(notifications()).toEqual(['The archive was cancelled.'])
  expect(screen.getByText('The archive was cancelled.').parentElement).toHaveClass('info')
})

test('a server without archive jobs shows a spinner and is not polled', async () => {
  jest.useFakeTimers({ advanceTimers: true, doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick', 'performance'] })
  const { user, network } = await filesPage([entryOf('world/')])
  network.post('/api/sftp/archive').answersLater({})
  const jobs = network.get('/api/sftp/jobs').answers(404)
  await menu(user, 'world', 'Archive')
  expect(await screen.findByText('Working...')).toBeVisible()
  await waitFor(() => expect(jobs.calls).not.toHaveLength(0))
  const { length } = jobs.calls
  await act(() => jest.advanceTimersByTimeAsync(10_000))
  jest.useRealTimers()
  expect(jobs.calls).toHaveLength(length)
  expect(names()).toEqual(['world'])
})

/** Clicks twice before the next render. */
const clickTwice = (button: HTMLElement) =>
  act(() => {
    button.click()
    button.click()
  })

test('a double click on the selection bar starts one archive and one download', async () => {
  const { user, network } = await five()
  await user.click(box('a'))
  await user.click(box('b'))
  const download = network.post('/api/sftp/download-multiple').answersLater({})
  clickTwice(bar().getByRole('button', { name: 'Download' }))
  const archive = network.post('/api/sftp/archive-multiple').answersLater({ files: [] })
  clickTwice(bar().getByRole('button', { name: 'Archive' }))
  await waitFor(() => expect(archive.calls).toHaveLength(1))
  expect(download.calls).toHaveLength(1)
})

test('a double click in a row menu starts one archive and one download', async () => {
  const { user, network } = await five()
  const ticket = network.post('/api/sftp/download-ticket').answersLater({ token: 't' })
  await user.click(screen.getByRole('button', { name: 'Actions for c' }))
  clickTwice(await screen.findByRole('menuitem', { name: 'Download' }))
  const one = network.post('/api/sftp/archive').answersLater({ files: [] })
  await user.click(screen.getByRole('button', { name: 'Actions for d' }))
  clickTwice(await screen.findByRole('menuitem', { name: 'Archive' }))
  await waitFor(() => expect(one.calls).toHaveLength(1))
  expect(ticket.calls).toHaveLength(1)
  // A finished download can be started again.
  ticket.release()
  await waitFor(() => expect(followed).toHaveLength(1))
  await user.click(screen.getByRole('button', { name: 'Actions for c' }))
  await user.click(await screen.findByRole('menuitem', { name: 'Download' }))
  await waitFor(() => expect(followed).toHaveLength(2))
})

test('a double click submits a dialog once', async () => {
  const { user, network } = await five()
  const create = network.post('/api/sftp/file').answersLater({})
  await user.click(screen.getByRole('button', { name: 'Create New' }))
  await user.type(screen.getByLabelText('File name'), 'new')
  clickTwice(screen.getByRole('button', { name: 'Create' }))
  await waitFor(() => expect(create.calls).toHaveLength(1))
  create.release()
  await closed()
  expect(create.calls).toHaveLength(1)
  const remove = network.delete('/api/sftp/file').answersLater({})
  await menu(user, 'a', 'Delete')
  clickTwice(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete' }))
  await waitFor(() => expect(remove.calls).toHaveLength(1))
  remove.release()
  await closed()
  expect(remove.calls).toHaveLength(1)
})

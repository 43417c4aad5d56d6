import { fireEvent, screen, within } from '@testing-library/react'
import { deploymentOf, entryOf } from '../../../support/web/factories'
import { closed, five, menu, paths, recordFollowedLinks, type Page } from '../../../support/web/fileActions'
import { bar, box, filesPage } from '../../../support/web/filesPage'

recordFollowedLinks()

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

import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { entryOf } from '../../../support/web/factories'
import { box, filesPage } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'
import { asked, file, item, stored } from '../../../support/web/transfers'

/** A directory entry as browsers provide it: entries come in batches, ending with an empty one. */
function droppedDirectory(name: string, children: object[]) {
  return {
    isFile: false,
    name,
    createReader: () => {
      const portions = [children.slice(0, 1), children.slice(1), []].filter(
        (portion, at, all) => portion.length > 0 || at === all.length - 1,
      )
      return { readEntries: (done: (entries: object[]) => void) => done(portions.shift() ?? []) }
    },
  }
}
const droppedFile = (name: string) => ({ isFile: true, name, file: (done: (file: File) => void) => done(file(name)) })
const unreadable = (name: string) => ({
  isFile: true,
  name,
  file: (_: unknown, fail: (error: Error) => void) => fail(new Error('gone')),
})
const transferOf = (entries: object[]) => ({
  types: ['Files'],
  dropEffect: 'none',
  items: entries.map((entry) => ({ kind: 'file', webkitGetAsEntry: () => entry })),
})

test("§2 dragging files over the page shows 'Drop files here to upload' until the drag leaves", async () => {
  await filesPage([entryOf('a')])
  const dataTransfer = transferOf([])
  fireEvent.dragEnter(document.body, { dataTransfer })
  expect(screen.getByText('Drop files here to upload')).toBeVisible()
  fireEvent.dragLeave(document.body, { dataTransfer, relatedTarget: null })
  expect(screen.queryByText('Drop files here to upload')).not.toBeInTheDocument()
})

test('a dropped folder keeps its structure: directories are created parents first, then the files are sent', async () => {
  const { network, uploads } = await filesPage([entryOf('present')], { at: '/files/base' })
  const made = network.post('/api/sftp/directory').answers({})
  const world = droppedDirectory('world', [
    droppedFile('level.dat'),
    droppedDirectory('region', [droppedFile('r.0.mca'), droppedFile('r.1.mca')]),
    droppedDirectory('empty', []),
  ])
  fireEvent.drop(document.body, { dataTransfer: transferOf([world, droppedFile('top.txt')]) })
  await waitFor(() => expect(uploads.requests).toHaveLength(3))
  expect(made.calls.map(({ body }) => (body as { path: string }).path)).toEqual([
    '/nfsshare/base/world',
    '/nfsshare/base/world/region',
    '/nfsshare/base/world/empty',
  ])
  expect(uploads.requests.map(({ directory, name }) => `${directory}/${name}`)).toEqual([
    '/nfsshare/base/world/level.dat',
    '/nfsshare/base/world/region/r.0.mca',
    '/nfsshare/base/world/region/r.1.mca',
  ])
  await act(async () => uploads.of('level.dat').listener.answered(200, stored('x')))
  await waitFor(() => expect(uploads.of('top.txt').directory).toBe('/nfsshare/base'))
})

test('a dropped folder that exists is merged, and conflicting files ask', async () => {
  const { network, uploads } = await filesPage([entryOf('world/')])
  network.post('/api/sftp/directory').answers(409, { code: 'CONFLICT', message: 'There is a "world" already' })
  network.get('/api/sftp/files').answers({ files: [entryOf('world/level.dat')], deploymentTypeIndex: null })
  fireEvent.drop(document.body, {
    dataTransfer: transferOf([droppedDirectory('world', [droppedFile('level.dat'), droppedFile('new.dat')])]),
  })
  expect(await asked()).toHaveTextContent('"level.dat" exists already in /nfsshare/world.')
  await waitFor(() => expect(uploads.requests.map(({ name }) => name)).toEqual(['new.dat']))
})

test('the files of a dropped folder fail with the reason when a file has the same name', async () => {
  const { network, uploads } = await filesPage([entryOf('world')])
  network.post('/api/sftp/directory').answers(409, { code: 'NAME_TAKEN', message: '/nfsshare/world exists already.' })
  network
    .get('/api/sftp/files')
    .answers(409, { code: 'CONFLICT', message: '/nfsshare/world is not a directory, or a part of its path is a file.' })
  fireEvent.drop(document.body, {
    dataTransfer: transferOf([
      droppedDirectory('world', [droppedFile('level.dat'), droppedDirectory('region', [droppedFile('r.0.mca')])]),
    ]),
  })
  for (const name of ['level.dat', 'r.0.mca'])
    await waitFor(async () => expect(await item(name)).toHaveTextContent('/nfsshare/world is not a directory'))
  expect(uploads.requests).toEqual([])
  expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
})

test('the files of a folder that cannot be created fail with its reason; other files are sent', async () => {
  const { network, uploads } = await filesPage([entryOf('a')])
  network.post('/api/sftp/directory').answers(400, { message: 'That name cannot be used' })
  fireEvent.drop(document.body, {
    dataTransfer: transferOf([droppedDirectory('con', [droppedFile('x')]), droppedFile('fine')]),
  })
  await waitFor(() => expect(uploads.requests.map(({ name }) => name)).toEqual(['fine']))
  expect(await item('x')).toHaveTextContent('That name cannot be used')
})

test('an empty dropped folder is listed once it is created, and a failure shows a notification', async () => {
  const { network, list } = await filesPage([entryOf('a')])
  network.post('/api/sftp/directory').answers({})
  list([entryOf('a'), entryOf('empty/')])
  fireEvent.drop(document.body, { dataTransfer: transferOf([droppedDirectory('empty', [])]) })
  expect(await screen.findByRole('row', { name: /empty/ })).toBeVisible()
  network.post('/api/sftp/directory').answers(507, { message: 'The disk of the shared area is full.' })
  fireEvent.drop(document.body, { dataTransfer: transferOf([droppedDirectory('more', [])]) })
  await waitFor(() => expect(notifications()).toEqual(['The disk of the shared area is full.']))
})

test('a dropped file that the browser cannot read is named in a notification', async () => {
  const { uploads } = await filesPage([entryOf('a')])
  fireEvent.drop(document.body, { dataTransfer: transferOf([unreadable('locked.db'), droppedFile('fine')]) })
  await waitFor(() => expect(uploads.requests).toHaveLength(1))
  expect(notifications()).toEqual(['Could not be read: locked.db'])
})

test('a drop is ignored while a dialog is open, and the browser does not open the file', async () => {
  const { user, uploads } = await filesPage([entryOf('a')])
  await user.click(screen.getByRole('button', { name: 'Create New' }))
  await screen.findByRole('dialog')
  const passedOn = fireEvent.drop(document.body, { dataTransfer: transferOf([droppedFile('x')]) })
  expect(passedOn).toBe(false)
  expect(uploads.requests).toEqual([])
  expect(box('a')).toBeInTheDocument()
})

import { act, screen, waitFor, within } from '@testing-library/react'
import { HttpResponse } from 'msw'
import { entryOf } from '../../../support/web/factories'
import { closed, five, menu, recordFollowedLinks } from '../../../support/web/fileActions'
import { bar, box, filesPage, names } from '../../../support/web/filesPage'
import { notifications } from '../../../support/web/notifications'
import { problemsIn } from '../../../support/web/problems'

const followed = recordFollowedLinks()

test('§4 the Download and Archive buttons show progress while their request is in flight', async () => {
  const { user, network } = await five()
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

test('decisions §2: a single file is downloaded with a ticket that never enters the store', async () => {
  const { user, network, store } = await filesPage([entryOf('my file#1.zip')])
  const ticket = network.post('/api/sftp/download-ticket').answers({ token: 'ticket-canary' })
  await menu(user, 'my file#1.zip', 'Download')
  await waitFor(() =>
    expect(followed()).toEqual([
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
  await waitFor(() => expect(followed()[0]?.href).toMatch(/token=.*signature$/))
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
  const createUrl = jest.spyOn(URL, 'createObjectURL').mockReturnValue('blob:zip')
  const call = network
    .post('/api/sftp/download-multiple')
    .answersWith(() => new HttpResponse('zip-canary', { headers: { 'content-type': 'application/zip' } }))
  for (const name of chosen) await user.click(box(name))
  await user.click(bar().getByRole('button', { name: 'Download' }))
  await waitFor(() => expect(followed()).toEqual([{ href: 'blob:zip', name: zip }]))
  expect(call.calls[0]?.body).toEqual({ files: chosen.map((name) => ({ path: `/nfsshare/${name}`, name })) })
  expect(await (createUrl.mock.calls[0]![0] as Blob).text()).toBe('zip-canary')
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
  await waitFor(() => expect(followed()).toHaveLength(1))
  await user.click(screen.getByRole('button', { name: 'Actions for c' }))
  await user.click(await screen.findByRole('menuitem', { name: 'Download' }))
  await waitFor(() => expect(followed()).toHaveLength(2))
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

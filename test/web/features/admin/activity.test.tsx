import { screen, waitFor, within } from '@testing-library/react'
import { activityOf, deploymentOf, userOf } from '../../../support/web/factories'
import { network } from '../../../support/web/network'
import { renderApp } from '../../../support/web/renderApp'

const rendered = () => renderApp('/activity', { signedInAs: '1', isAdmin: true })

// The names of users and deployments that exist are links.
beforeEach(() => {
  network.get('/api/users').answers({ users: [userOf(1, 'ann', true), userOf(2, 'bob')] })
  network.get('/api/deployments').answers({ deployments: [deploymentOf('lobby')] })
})
afterEach(() => jest.restoreAllMocks())

const rows = () =>
  within(screen.getByRole('main'))
    .queryAllByRole('listitem')
    .map((item) => item.textContent)

test('entries show user, action, time and address in server order, with failures marked', async () => {
  const at = new Date(2026, 10, 20, 9, 30, 15).getTime()
  jest.spyOn(Date, 'now').mockReturnValue(at + 3 * 3_600_000 + 60_000)
  network.get('/api/activity').answers({
    entries: [
      activityOf(3, {
        at,
        action: 'failed to sign in',
        kind: 'session',
        username: null,
        subject: 'bob',
        address: '10.0.0.7',
        succeeded: false,
        failure: 'BAD_CREDENTIALS',
      }),
      activityOf(2, { at }),
      activityOf(1, { at, action: 'signed in', kind: 'session', subject: null }),
    ],
    hasMore: false,
  })
  rendered()
  expect(await screen.findByText('There are no older entries. Entries are kept for 90 days.')).toBeVisible()
  expect(rows()).toEqual([
    'Anonymousfailed to sign in bobFailed: wrong username or passwordSign-insfrom 10.0.0.73 hours ago',
    'anndeleted deployment lobbyDeploymentsfrom 10.0.0.13 hours ago',
    'annsigned inSign-insfrom 10.0.0.13 hours ago',
  ])
  const when = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(at)
  for (const time of screen.getAllByText('3 hours ago')) expect(time).toHaveAttribute('title', when)
})

test('an entry of an action with an API key names the key beside the address', async () => {
  network.get('/api/activity').answers({
    entries: [activityOf(2, { api_key: 'nightly deploy' }), activityOf(1)],
    hasMore: false,
  })
  rendered()
  const byKey = '10.0.0.1 with the API key "nightly deploy"'
  expect(await screen.findByTitle(byKey)).toHaveTextContent(`from ${byKey}`)
  expect(screen.getByTitle('10.0.0.1')).toHaveTextContent(/^from 10\.0\.0\.1$/)
})

test('entries are grouped by day', async () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime()
  jest.spyOn(Date, 'now').mockReturnValue(at(20, 12))
  network.get('/api/activity').answers({
    entries: [
      activityOf(5, { at: at(20, 9), subject: 'five' }),
      activityOf(4, { at: at(20, 0), subject: 'four' }),
      activityOf(3, { at: at(19, 23), subject: 'three' }),
      activityOf(2, { at: at(17, 8), subject: 'two' }),
    ],
    hasMore: false,
  })
  rendered()
  await screen.findByText('five')
  const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' }).format(at(17, 0))
  const days = screen.getAllByRole('heading', { level: 2 })
  expect(days.map((day) => day.textContent)).toEqual(['Today', 'Yesterday', date])
  expect(days.map((day) => within(day.nextElementSibling as HTMLElement).getAllByRole('listitem').length)).toEqual([
    2, 1, 1,
  ])
})

test('names lead to the pages of what still exists', async () => {
  network.get('/api/activity').answers({
    entries: [
      activityOf(6, { username: 'bob', action: 'enabled deployment', subject: 'lobby' }),
      activityOf(5, { username: 'gone', action: 'deleted deployment', subject: 'old' }),
      activityOf(4, { kind: 'file', action: 'changed file', subject: '/nfsshare/lobby/a b/server.yml' }),
      activityOf(7, { kind: 'file', action: 'uploaded', subject: '/nfsshare/lobby/a, b/x, /nfsshare/lobby/a, b/y' }),
      activityOf(8, { kind: 'file', action: 'moved', subject: '/nfsshare/lobby/a.txt to /nfsshare/lobby/b to/a.txt' }),
      activityOf(3, { kind: 'file', action: 'deleted', subject: '/nfsshare/lobby/x' }),
      activityOf(2, { kind: 'user', action: 'reset password of', subject: 'bob' }),
      activityOf(1, { kind: 'user', action: 'deleted user', subject: 'eve' }),
    ],
    hasMore: false,
  })
  rendered()
  expect(await screen.findByRole('link', { name: 'lobby' })).toHaveAttribute('href', '/deployments/lobby/edit')
  expect(screen.getByRole('link', { name: '/nfsshare/lobby/a b/server.yml' })).toHaveAttribute(
    'href',
    '/files/lobby/a%20b',
  )
  expect(screen.getByRole('link', { name: /^\/nfsshare\/lobby\/a, b\/x,/ })).toHaveAttribute(
    'href',
    '/files/lobby/a%2C%20b',
  )
  expect(screen.getByRole('link', { name: /^\/nfsshare\/lobby\/a\.txt to/ })).toHaveAttribute(
    'href',
    '/files/lobby/b%20to',
  )
  for (const link of screen.getAllByRole('link', { name: 'bob' }))
    expect(link).toHaveAttribute('href', '/admin/users/2')
  expect(screen.getAllByRole('link', { name: 'bob' })).toHaveLength(2)
  for (const name of ['gone', 'old', '/nfsshare/lobby/x', 'eve']) {
    expect(screen.getByText(name)).toBeVisible()
    expect(screen.queryByRole('link', { name })).not.toBeInTheDocument()
  }
})

test('the activity of a period is requested in hours', async () => {
  network.get('/api/activity').answers({ entries: [activityOf(1)], hasMore: false })
  const { user, store } = rendered()
  await screen.findByText('lobby')
  const { calls } = network.get('/api/activity').answers({ entries: [], hasMore: false })
  await user.selectOptions(screen.getByRole('combobox', { name: 'Time' }), 'Last 7 days')
  expect(await screen.findByText('Nothing matches these filters')).toBeVisible()
  expect(calls.map(({ query }) => query)).toEqual(['?hours=168'])
  expect(store.getState().admin?.activity.hours).toBe(168)
})

test('Load older fetches the next page and appends it', async () => {
  const first = network
    .get('/api/activity')
    .answers({ entries: [activityOf(9, { subject: 'nine' }), activityOf(8, { subject: 'eight' })], hasMore: true })
  const { user } = rendered()
  await screen.findByText('eight')
  expect(first.calls.map(({ query }) => query)).toEqual([''])
  const older = network.get('/api/activity').answers({ entries: [activityOf(7, { subject: 'seven' })], hasMore: false })
  await user.click(screen.getByRole('button', { name: 'Load older' }))
  expect(await screen.findByText('seven')).toBeVisible()
  expect(older.calls.map(({ query }) => query)).toEqual(['?before=8'])
  expect(rows()).toHaveLength(3)
  expect(screen.queryByRole('button', { name: 'Load older' })).not.toBeInTheDocument()
})

test('older entries that fail to load keep the list, and Retry fetches them again', async () => {
  network.get('/api/activity').answers({ entries: [activityOf(9, { subject: 'nine' })], hasMore: true })
  const { user } = rendered()
  await screen.findByText('nine')
  network.get('/api/activity').answers(503, { message: 'The database is not reachable' })
  await user.click(screen.getByRole('button', { name: 'Load older' }))
  expect(await screen.findByText('The database is not reachable')).toBeVisible()
  expect(screen.getByText('nine')).toBeVisible()
  const again = network.get('/api/activity').answers({ entries: [activityOf(8, { subject: 'eight' })], hasMore: false })
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  expect(await screen.findByText('eight')).toBeVisible()
  expect(again.calls.map(({ query }) => query)).toEqual(['?before=9'])
})

test('the activity is filtered on the server by kind and by a debounced search', async () => {
  network.get('/api/activity').answers({ entries: [activityOf(1)], hasMore: false })
  const { user, store } = rendered()
  await screen.findByText('lobby')
  const byKind = network.get('/api/activity').answers({ entries: [], hasMore: false })
  await user.selectOptions(screen.getByRole('combobox', { name: 'Kind of activity' }), 'Sign-ins')
  expect(await screen.findByText('Nothing matches these filters')).toBeVisible()
  expect(byKind.calls.map(({ query }) => query)).toEqual(['?kind=session'])

  const bySearch = network
    .get('/api/activity')
    .answers({ entries: [activityOf(5, { subject: 'found' })], hasMore: false })
  await user.type(screen.getByRole('searchbox', { name: 'Search activity' }), 'a b&c')
  expect(await screen.findByText('found')).toBeVisible()
  expect(bySearch.calls.map(({ query }) => query)).toEqual(['?kind=session&search=a+b%26c'])
  expect(store.getState().admin?.activity).toEqual({ kind: 'session', hours: null, search: 'a b&c' })
})

test('a failed filter request does not show the entries of the previous filter', async () => {
  network.get('/api/activity').answers({ entries: [activityOf(1, { subject: 'of all kinds' })], hasMore: false })
  const { user } = rendered()
  await screen.findByText('of all kinds')
  network.get('/api/activity').answers(503, { message: 'The database is not reachable' })
  await user.selectOptions(screen.getByRole('combobox', { name: 'Kind of activity' }), 'Sign-ins')
  expect(await screen.findByText('The database is not reachable')).toBeVisible()
  expect(screen.queryByText('of all kinds')).not.toBeInTheDocument()
  expect(screen.queryByText(/^There are no older entries/)).not.toBeInTheDocument()
})

test('the empty message appears only after the current filter has loaded', async () => {
  network.get('/api/activity').answers({ entries: [], hasMore: false })
  const { user } = rendered()
  expect(await screen.findByText('Nothing has happened yet')).toBeVisible()
  const { release } = network
    .get('/api/activity')
    .answersLater({ entries: [activityOf(1, { subject: 'found' })], hasMore: false })
  await user.selectOptions(screen.getByRole('combobox', { name: 'Kind of activity' }), 'Databases')
  expect(screen.getByText('Loading the activity')).toBeInTheDocument()
  expect(screen.queryByText(/^Nothing/)).not.toBeInTheDocument()
  release()
  expect(await screen.findByText('found')).toBeVisible()
})

test('Refresh refetches the activity', async () => {
  network.get('/api/activity').answers({ entries: [], hasMore: false })
  const { user } = rendered()
  expect(await screen.findByText('Nothing has happened yet')).toBeVisible()
  network.get('/api/activity').answers({ entries: [activityOf(1, { subject: 'fresh' })], hasMore: false })
  await user.click(screen.getByRole('button', { name: 'Refresh' }))
  expect(await screen.findByText('fresh')).toBeVisible()
})

test('decisions §0: a 404 shows that the server offers no activity log', async () => {
  network.get('/api/activity').answers(404)
  rendered()
  expect(await screen.findByText('This server does not offer an activity log.')).toBeVisible()
})

test('an activity log that failed to load shows the failure with Retry', async () => {
  network.get('/api/activity').answers(500)
  const { user } = rendered()
  expect(await screen.findByRole('heading', { name: 'Failed to load the activity' })).toBeVisible()
  network.get('/api/activity').answers({ entries: [activityOf(1)], hasMore: false })
  await user.click(screen.getByRole('button', { name: 'Retry' }))
  // What appears first is replaced when the failure goes away.
  await waitFor(() => expect(screen.getByText('lobby')).toBeVisible())
  await waitFor(() => expect(screen.queryByText('Failed to load the activity')).not.toBeInTheDocument())
})

test('decisions §2: a regular user sees the administrators-only panel, and no activity is requested', async () => {
  const { calls } = network.get('/api/activity').answers({ entries: [], hasMore: false })
  renderApp('/activity', { signedInAs: 'bob' })
  expect(await screen.findByRole('heading', { name: 'Administrators only' })).toBeVisible()
  expect(calls).toHaveLength(0)
})

test('security 12: a demoted administrator sees the administrators-only panel and stays signed in', async () => {
  network.get('/api/activity').answers(403, { code: 'NOT_ALLOWED', message: 'This is for administrators' })
  const { services } = rendered()
  expect(await screen.findByRole('heading', { name: 'Administrators only' })).toBeVisible()
  expect(services.jar.has('token')).toBe(true)
})

test('the admin page and the user menu of an administrator link to the activity', async () => {
  network.get('/api/activity').answers({ entries: [activityOf(1)], hasMore: false })
  const { user } = renderApp('/admin', { signedInAs: '1', isAdmin: true })
  await user.click(await screen.findByRole('link', { name: 'Activity' }))
  expect(await screen.findByText(/deleted deployment/)).toBeVisible()
  await user.click(screen.getByRole('link', { name: 'Admin' }))
  await user.click(screen.getByRole('button', { name: 'Your account' }))
  await user.click(screen.getByRole('menuitem', { name: 'Activity' }))
  expect(await screen.findByText(/deleted deployment/)).toBeVisible()
  expect(window.location.pathname).toBe('/activity')
})

test('the user menu of other users does not link to the activity', async () => {
  const { user } = renderApp('/no/such/page', { signedInAs: 'bob' })
  await user.click(await screen.findByRole('button', { name: 'Your account' }))
  expect(screen.getByRole('menuitem', { name: 'Your sessions' })).toBeVisible()
  expect(screen.queryByRole('menuitem', { name: 'Activity' })).not.toBeInTheDocument()
})

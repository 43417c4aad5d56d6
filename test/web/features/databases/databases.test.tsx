import { act, screen, waitFor, within } from '@testing-library/react'
import { credentialsIn, renderDatabases } from '../../../support/web/databasesPage'
import { databaseOf } from '../../../support/web/factories'

const namesIn = (region: HTMLElement) =>
  within(region)
    .queryAllByRole('article')
    .map((article) => article.getAttribute('aria-label'))

test('§2 the page has title, subtitle and two sections, each with its databases and a Create button', async () => {
  const { section, card } = renderDatabases({
    sql: [databaseOf('shop'), databaseOf('lobby')],
    mongo: [databaseOf('logs')],
  })
  expect(await screen.findByRole('heading', { level: 1, name: 'Databases' })).toBeVisible()
  expect(screen.getByText('Manage your database instances and credentials')).toBeVisible()
  await card('logs')
  expect(namesIn(await section('SQL Databases'))).toEqual(['lobby', 'shop'])
  expect(namesIn(await section('MongoDB Databases'))).toEqual(['logs'])
  expect(within(await section('SQL Databases')).getByRole('button', { name: /^Create/ })).toHaveTextContent('Create')
  expect(within(await section('MongoDB Databases')).getByRole('button', { name: /^Create/ })).toBeVisible()
})

test('§2, §9 a card shows name, type badge, size, number of tables or collections, and both buttons', async () => {
  const { card } = renderDatabases({
    sql: [databaseOf('shop', { size: 7_759_462, tables: 12 })],
    mongo: [databaseOf('logs', { size: 512, tables: 1 })],
  })
  const shop = await card('shop')
  expect(within(shop).getByRole('heading', { name: 'shop' })).toBeVisible()
  for (const text of ['SQL', '7.40 MB', '12 tables']) expect(within(shop).getByText(text)).toBeVisible()
  expect(within(shop).getByRole('button', { name: 'Reset password of shop' })).toBeVisible()
  expect(within(shop).getByRole('button', { name: 'Delete shop' })).toBeVisible()
  for (const text of ['MONGO', '512 Bytes', '1 collection'])
    expect(within(await card('logs')).getByText(text)).toBeVisible()
})

test('a section shows the number of its databases and their total size, if each size is known', async () => {
  const { section } = renderDatabases({
    sql: [databaseOf('shop', { size: 2048 }), databaseOf('lobby', { size: 1024 })],
    mongo: [databaseOf('logs', { size: 512 }), { name: 'bare' }],
  })
  expect(await within(await section('SQL Databases')).findByText('2 databases · 3.00 KB')).toBeVisible()
  expect(await within(await section('MongoDB Databases')).findByText('2 databases')).toBeVisible()
})

test('each action of a row has a tooltip', async () => {
  const { open } = renderDatabases()
  const shop = await open('shop')
  for (const [name, title] of [
    ['Reset password of shop', 'Reset password'],
    ['Delete shop', 'Delete'],
    ['Show password', 'Show password'],
    ['Copy username', 'Copy username'],
  ])
    expect(within(shop).getByRole('button', { name })).toHaveAttribute('title', title)
})

test("sizes sent as text are parsed, and missing sizes and counts read 'unknown'", async () => {
  const { card } = renderDatabases({
    sql: [{ ...databaseOf('shop'), size: '2048' }, { name: 'bare' }, null, { size: 1 }],
    mongo: [],
  })
  expect(within(await card('shop')).getByText('2.00 KB')).toBeVisible()
  expect(within(await card('bare')).getByText('Size unknown')).toBeVisible()
  expect(within(await card('bare')).getByText('Tables unknown')).toBeVisible()
  expect(screen.getAllByRole('article')).toHaveLength(2)
})

test.each([
  ['SQL Databases', 'No SQL databases yet', 'Create SQL Database'],
  ['MongoDB Databases', 'No MONGO databases yet', 'Create MONGO Database'],
])('§2 an empty section %s reads %p', async (name, text, title) => {
  const { section, user } = renderDatabases({ sql: [], mongo: [] })
  expect(await within(await section(name)).findByText(text)).toBeVisible()
  await user.click(within(await section(name)).getByRole('button', { name: /^Create/ }))
  expect(await screen.findByRole('dialog', { name: title })).toBeVisible()
})

test('a section shows skeletons while its list loads', async () => {
  const { network, section } = renderDatabases()
  const { release } = network.get('/api/database/sql').answersLater({ databases: [databaseOf('shop')] })
  const region = await section('SQL Databases')
  expect(within(region).getByText('Loading SQL Databases')).toBeInTheDocument()
  expect(await screen.findByRole('article', { name: 'logs' })).toBeVisible()
  expect(within(region).queryByText('No SQL databases yet')).not.toBeInTheDocument()
  release()
  expect(await screen.findByRole('article', { name: 'shop' })).toBeVisible()
  expect(within(region).queryByText('Loading SQL Databases')).not.toBeInTheDocument()
})

describe.each([
  ['SQL Databases', 'sql', 'logs'],
  ['MongoDB Databases', 'mongo', 'shop'],
] as const)('§8 when %s cannot be loaded', (name, type, other) => {
  test('decisions §1: an unconfigured type shows what to configure, disables Create and offers Check again', async () => {
    const { network, section, card, user } = renderDatabases()
    network
      .get(`/api/database/${type}`)
      .answers(503, { code: 'NOT_CONFIGURED', message: 'There is no server: set QUARTERDECK_SOME_URL.' })
    const region = within(await section(name))
    expect(await region.findByRole('heading', { name: `${name} are not available` })).toBeVisible()
    expect(screen.queryByRole('alert')).not.toBeInTheDocument()
    const create = region.getByRole('button', { name: /^Create/ })
    expect(create).toHaveAttribute('aria-disabled', 'true')
    await user.click(create)
    expect(screen.queryByRole('dialog')).not.toBeInTheDocument()
    expect(create).toHaveAccessibleDescription('There is no server: set QUARTERDECK_SOME_URL.')
    expect(await card(other)).toBeVisible()
    network.get(`/api/database/${type}`).answers({ databases: [] })
    await user.click(region.getByRole('button', { name: 'Check again' }))
    await waitFor(() => expect(create).toHaveAttribute('aria-disabled', 'false'))
  })

  test.each([
    [
      503,
      { code: 'UNAVAILABLE', message: 'The MongoDB server does not answer.' },
      'The MongoDB server does not answer.',
    ],
    [500, {}, ''],
  ])(
    "a %s shows 'Failed to load databases' with %j in its section only, and Retry refetches",
    async (status, body, detail) => {
      const { network, section, card, user } = renderDatabases()
      network.get(`/api/database/${type}`).answers(status, body)
      const alert = await within(await section(name)).findByRole('alert')
      expect(alert).toHaveTextContent(`Failed to load databases${detail}Retry`)
      expect(await card(other)).toBeVisible()
      expect(screen.getAllByRole('alert')).toHaveLength(1)
      network.get(`/api/database/${type}`).answers({ databases: [databaseOf('back')] })
      await user.click(within(alert).getByRole('button', { name: 'Retry' }))
      expect(await within(await section(name)).findByRole('article', { name: 'back' })).toBeVisible()
      expect(screen.queryByRole('alert')).not.toBeInTheDocument()
    },
  )
})

test('§8 both sections can fail, each with its own reason', async () => {
  const { network, section } = renderDatabases()
  network.get('/api/database/sql').isUnreachable()
  network.get('/api/database/mongo').answers({})
  expect(await within(await section('SQL Databases')).findByRole('alert')).toHaveTextContent(
    'Failed to load databasesThe server could not be reached.',
  )
  expect(await within(await section('MongoDB Databases')).findByRole('alert')).toHaveTextContent(
    'Failed to load databasesRetry',
  )
})

test('the lists are refetched when the page becomes visible and stay when the refetch fails', async () => {
  const { network, card, lists } = renderDatabases()
  await card('shop')
  network.get('/api/database/sql').answers(503, { message: 'Not now' })
  act(() => void document.dispatchEvent(new Event('visibilitychange', { bubbles: true })))
  expect(await screen.findByRole('alert')).toHaveTextContent('Not nowShowing the last known state.')
  expect(await card('shop')).toBeVisible()
  expect(lists.mongo.calls).toHaveLength(2)
})

test('Refresh refetches both lists and shows the changes', async () => {
  const { network, card, user, lists } = renderDatabases()
  await card('shop')
  network.get('/api/database/sql').answers({ databases: [databaseOf('shop', { size: 9_437_184, tables: 4 })] })
  await user.click(screen.getByRole('button', { name: 'Refresh' }))
  expect(await within(await card('shop')).findByText('9.00 MB')).toBeVisible()
  expect(within(await card('shop')).getByText('4 tables')).toBeVisible()
  await waitFor(() => expect(lists.mongo.calls).toHaveLength(2))
})

describe('§2 the database panel', () => {
  test('expands and collapses, with the tabs Credentials and Connection Info', async () => {
    const { user, open, card } = renderDatabases()
    const shop = await open('shop')
    const toggle = within(shop).getByRole('button', { name: 'shop' })
    expect(toggle).toHaveAttribute('aria-expanded', 'true')
    expect(
      within(shop)
        .getAllByRole('tab')
        .map((tab) => tab.textContent),
    ).toEqual(['Credentials', 'Connection Info'])
    expect(within(await card('logs')).queryByRole('tab')).not.toBeInTheDocument()
    await user.click(toggle)
    expect(within(shop).queryByRole('tab')).not.toBeInTheDocument()
    expect(toggle).toHaveAttribute('aria-expanded', 'false')
  })

  test('supports keyboard navigation of its tabs', async () => {
    const { user, open } = renderDatabases()
    const shop = await open('shop')
    await user.keyboard('{Tab}{Tab}{Tab}')
    expect(within(shop).getByRole('tab', { name: 'Credentials' })).toHaveFocus()
    await user.keyboard('{ArrowRight}')
    expect(within(shop).getByRole('tab', { name: 'Connection Info' })).toHaveFocus()
    expect(within(shop).getByRole('tabpanel', { name: 'Connection Info' })).toHaveTextContent('postgresql://')
    await user.keyboard('{ArrowRight}')
    expect(within(shop).getByRole('tab', { name: 'Credentials' })).toHaveFocus()
    await user.keyboard('{End}')
    expect(within(shop).getByRole('tab', { name: 'Connection Info' })).toHaveAttribute('aria-selected', 'true')
    await user.keyboard('{Home}')
    expect(within(shop).getByRole('tabpanel', { name: 'Credentials' })).toBeVisible()
  })

  test('shows the credentials with the password masked until it is revealed', async () => {
    const { user, open, store } = renderDatabases()
    const shop = await open('shop')
    const { Password: masked, ...others } = credentialsIn(shop)
    expect(others).toEqual({ Username: 'shop', Host: 'db.example', Port: '5432', Database: 'shop' })
    expect(masked).toBe('••••••••••••Hidden')
    expect(shop).not.toHaveTextContent('password-of-shop')
    await user.click(within(shop).getByRole('button', { name: 'Show password' }))
    expect(credentialsIn(shop).Password).toBe('password-of-shop')
    const { api: _, ...slices } = store.getState()
    expect(JSON.stringify(slices)).not.toContain('password-of-shop')
    await user.click(within(shop).getByRole('button', { name: 'Show password', pressed: true }))
    expect(shop).not.toHaveTextContent('password-of-shop')
  })

  test('§3 shows additional credentials generically and masks those that look secret', async () => {
    const credentials = {
      ...databaseOf('shop').credentials,
      sslMode: 'require',
      apiKey: 'hidden-key',
      tls: true,
      options: { a: 1 },
      jdbc_line: 'x?password-of-shop',
      connectionString: 'postgresql://given',
    }
    const { open } = renderDatabases({ sql: [databaseOf('shop', { credentials })] })
    expect(credentialsIn(await open('shop'))).toMatchObject({
      'Ssl mode': 'require',
      'Api key': '••••••••••••Hidden',
      'Jdbc line': '••••••••••••Hidden',
      Tls: 'true',
      Options: '{"a":1}',
    })
    expect(screen.queryByText('postgresql://given')).not.toBeInTheDocument()
  })

  test("shows 'Not known' for a password that the server does not know", async () => {
    const { user, open } = renderDatabases({
      sql: [databaseOf('shop', { credentials: { ...databaseOf('shop').credentials, password: '' } })],
    })
    const shop = await open('shop')
    expect(credentialsIn(shop).Password).toBe('Not known')
    expect(within(shop).queryByRole('button', { name: 'Show password' })).not.toBeInTheDocument()
    await user.click(within(shop).getByRole('tab', { name: 'Connection Info' }))
    expect(within(shop).getByText(/Resetting the password may restore them/)).toBeVisible()
    expect(shop).not.toHaveTextContent('postgresql://')
  })

  test('shows the connection string of the server, masked, if it cannot build one', async () => {
    const credentials = { connectionString: 'mongodb+srv://given:pass@cluster' } as never
    const { user, open, copied } = renderDatabases({ mongo: [databaseOf('logs', { credentials })] })
    const logs = await open('logs')
    await user.click(within(logs).getByRole('tab', { name: 'Connection Info' }))
    expect(logs).toHaveTextContent('mongodb+srv://given:••••••••••••@cluster')
    await user.click(within(logs).getByRole('button', { name: 'Copy connection string' }))
    expect(copied()).toBe('mongodb+srv://given:pass@cluster')
    await user.click(within(logs).getByRole('button', { name: 'Show password' }))
    expect(logs).toHaveTextContent('mongodb+srv://given:pass@cluster')
    expect(within(logs).queryByRole('group', { name: 'Ready to paste' })).not.toBeInTheDocument()
  })

  test.each([
    ['Copy username', 'shop'],
    ['Copy password', 'password-of-shop'],
    ['Copy host', 'db.example'],
    ['Copy port', '5432'],
    ['Copy database', 'shop'],
  ])('§2, §9 %s copies %p, masked or not, and confirms', async (label, text) => {
    const { user, open, copied } = renderDatabases()
    const button = within(await open('shop')).getByRole('button', { name: label })
    await user.click(button)
    expect(copied()).toBe(text)
    expect(await within(button).findByText('Copied')).toBeInTheDocument()
  })

  test.each([
    ['shop', 'postgresql://shop:', '@db.example:5432/shop'],
    ['logs', 'mongodb://logs:', '@db.example:5432/logs'],
  ])(
    '§7 Connection Info of %s shows the connection string, masked until revealed, and copies it unmasked',
    async (name, before, after) => {
      const { user, open, copied } = renderDatabases()
      const card = await open(name)
      await user.click(within(card).getByRole('tab', { name: 'Connection Info' }))
      expect(within(card).getByText(`${before}••••••••••••${after}`)).toBeVisible()
      await user.click(within(card).getByRole('button', { name: 'Copy connection string' }))
      expect(copied()).toBe(`${before}password-of-${name}${after}`)
      await user.click(within(card).getByRole('button', { name: 'Show password' }))
      expect(within(card).getByText(`${before}password-of-${name}${after}`)).toBeVisible()
    },
  )

  test('the snippet choice applies to all databases of a type, and the copy contains the password', async () => {
    const { user, open, copied } = renderDatabases({ sql: [databaseOf('lobby'), databaseOf('shop')] })
    const lobby = await open('lobby')
    await user.click(within(lobby).getByRole('tab', { name: 'Connection Info' }))
    const choice = within(lobby).getByRole('group', { name: 'Ready to paste' })
    expect(within(choice).getByRole('button', { name: 'psql' })).toHaveAttribute('aria-pressed', 'true')
    await user.click(within(choice).getByRole('button', { name: 'Spring' }))
    expect(within(lobby).getByRole('group', { name: 'Spring snippet' })).toHaveTextContent('password: "••••••••••••"')
    await user.click(within(lobby).getByRole('button', { name: 'Copy Spring snippet' }))
    expect(copied()).toContain('    password: "password-of-lobby"')
    const shop = await open('shop')
    await user.click(within(shop).getByRole('tab', { name: 'Connection Info' }))
    expect(within(shop).getByRole('group', { name: 'Spring snippet' })).toBeVisible()
  })

  test('collapsing the panel masks a revealed password again', async () => {
    const { user, open } = renderDatabases()
    const shop = await open('shop')
    await user.click(within(shop).getByRole('button', { name: 'Show password' }))
    await open('shop')
    expect(await open('shop')).not.toHaveTextContent('password-of-shop')
  })
})

describe('the database filter', () => {
  const many = ['alpha', 'beta', 'gamma', 'delta', 'Lobby_1'].map((name) => databaseOf(name))

  test('appears with more than five databases and matches names ignoring case', async () => {
    const { user, section, card } = renderDatabases({ sql: many, mongo: [databaseOf('lobby_logs')] })
    await card('alpha')
    await user.type(await screen.findByRole('searchbox', { name: 'Filter databases' }), ' LOBBY')
    expect(namesIn(await section('SQL Databases'))).toEqual(['Lobby_1'])
    expect(namesIn(await section('MongoDB Databases'))).toEqual(['lobby_logs'])
    await user.type(screen.getByRole('searchbox'), '_1')
    expect(
      within(await section('MongoDB Databases')).getByText('No MONGO database has "LOBBY_1" in its name'),
    ).toBeVisible()
  })

  test('is hidden with five databases or fewer', async () => {
    const { card } = renderDatabases({ sql: many, mongo: [] })
    await card('alpha')
    await screen.findByText('No MONGO databases yet')
    expect(screen.queryByRole('searchbox')).not.toBeInTheDocument()
  })
})

test('decisions §10: the store holds expanded cards, tabs, snippet and filter by name only', async () => {
  const { user, open, store } = renderDatabases()
  const shop = await open('shop')
  await user.click(within(shop).getByRole('tab', { name: 'Connection Info' }))
  await user.click(within(shop).getByRole('button', { name: 'JDBC' }))
  expect(store.getState().databases).toEqual({
    dialog: null,
    expanded: ['sql/shop'],
    tabs: { 'sql/shop': 'connection' },
    snippets: { sql: 'jdbc' },
    filter: '',
    shown: null,
  })
})

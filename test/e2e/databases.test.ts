import { MongoClient } from 'mongodb'
import { Client } from 'pg'
import type { Locator, Page } from 'playwright-core'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { signUp, startProduct, type Product } from '../support/browser/startProduct'
import { mongoPath } from '../support/platform/mongoPath'

let product: Product | undefined

afterEach(async () => {
  await product?.close()
  product = undefined
})

/** The size of a database on its card. */
const SIZE = /^[\d.]+ (Bytes|[KMG]B)$/

const section = (page: Page, name: string) => page.getByRole('region', { name })
const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true })
const toast = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text, { exact: true }).waitFor()

async function create(page: Page, button: string, name: string): Promise<Locator> {
  await page.getByRole('button', { name: button }).click()
  await page.getByLabel('Database name').fill(name)
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await card(page, name).waitFor()
  return card(page, name)
}

/** The credentials shown in the panel, with the password revealed. */
async function credentialsOf(shown: Locator): Promise<Record<string, string>> {
  await shown.getByRole('tab', { name: 'Credentials' }).click()
  const reveal = shown.getByRole('button', { name: 'Show password' })
  if ((await reveal.getAttribute('aria-pressed')) !== 'true') await reveal.click()
  const rows = await shown.locator('dl > div').all()
  return Object.fromEntries(
    await Promise.all(
      rows.map(async (row) => [await row.locator('dt').innerText(), await row.locator('code').innerText()] as const),
    ),
  )
}

/** The connection string in the tab Connection Info, with the password revealed. */
async function connectionStringOf(shown: Locator): Promise<string> {
  await shown.getByRole('tab', { name: 'Connection Info' }).click()
  const reveal = shown.getByRole('button', { name: 'Show password' })
  if ((await reveal.getAttribute('aria-pressed')) !== 'true') await reveal.click()
  return shown.locator('pre').first().innerText()
}

/** Runs statements as an ordinary client. @returns the rows of the last statement, or the error code. */
async function query(connectionString: string, ...statements: string[]): Promise<unknown> {
  const client = new Client({ connectionString })
  client.on('error', () => undefined)
  try {
    await client.connect()
    let rows: unknown
    for (const statement of statements) rows = (await client.query<Record<string, unknown>>(statement)).rows
    return rows
  } catch (error) {
    return (error as { code?: string }).code
  } finally {
    await client.end()
  }
}

browserTest(
  'an SQL database is created, used with its credentials, reset and deleted while MongoDB is unreachable',
  async () => {
    product = await startProduct({ QUARTERDECK_SAMPLE: 'off', QUARTERDECK_MONGO_URL: 'mongodb://127.0.0.1:1' })
    const { page, context, errors } = await openPage(product.url)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await signUp(page, product)
    await page.getByRole('link', { name: 'Databases' }).click()
    await page.getByText('Manage your database instances and credentials').waitFor()
    await page.getByText('No SQL databases yet').waitFor()

    // The unreachable MongoDB server shows its reason and does not affect SQL databases.
    const failure = section(page, 'MongoDB Databases').getByRole('alert')
    await failure.getByText('Failed to load databases').waitFor()
    await failure.getByText(/QUARTERDECK_MONGO_URL/).waitFor()
    await expectGoodPage(page, 'databases-empty')
    await page.getByRole('button', { name: 'Create MONGO database' }).click()
    await page.getByLabel('Database name').fill('logs')
    await page.keyboard.press('Enter')
    await page
      .getByRole('dialog')
      .getByText(/QUARTERDECK_MONGO_URL/)
      .waitFor()
    await toast(page, 'Failed to create MONGO database logs')
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Create SQL database' }).click()
    await page.getByLabel('Database name').fill('my-db')
    await page.getByText('Database name can only contain letters, numbers, dashes, and underscores').waitFor()
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
    await page.keyboard.press('Enter')
    await toast(page, 'Invalid database name')
    await expectGoodPage(page, 'databases-create')
    await page.keyboard.press('Escape')

    const shop = await create(page, 'Create SQL database', 'Shop_1')
    await toast(page, 'Successfully created SQL database Shop_1')
    expect(await shop.getByText('•').count()).toBe(1)
    const credentials = await credentialsOf(shop)
    expect(credentials).toMatchObject({
      Username: 'Shop_1',
      Host: '127.0.0.1',
      Database: 'Shop_1',
      Password: expect.stringMatching(/^.{24}$/),
      Port: expect.stringMatching(/^\d+$/),
    })
    await shop.getByRole('button', { name: 'Copy password' }).click()
    await page.waitForFunction(
      async (expected) => (await navigator.clipboard.readText()) === expected,
      credentials.Password,
    )
    await expectGoodPage(page, 'databases-credentials')

    const uri = await connectionStringOf(shop)
    expect(await query(uri, 'select current_user as who, current_database() as name')).toEqual([
      { who: 'Shop_1', name: 'Shop_1' },
    ])
    await shop.getByText('0 tables').waitFor()
    const size = await shop.getByText(SIZE).innerText()
    await query(
      uri,
      'create table orders (text text)',
      "insert into orders select repeat('x', 100) from generate_series(1, 50000)",
    )
    await page.getByRole('button', { name: 'Refresh' }).click()
    await shop.getByText('1 table', { exact: true }).waitFor()
    const grown = await shop.getByText(SIZE).innerText()
    for (const text of [size, grown]) expect(text).toMatch(/^\d+\.\d\d MB$/)
    expect(parseFloat(grown)).toBeGreaterThan(parseFloat(size) + 5)
    // The card is still expanded on the same tab.
    for (const snippet of ['psql', 'JDBC', 'Node.js', 'Spring', 'Plugin config']) {
      await shop.getByRole('button', { name: snippet, exact: true }).click()
      await shop.getByRole('group', { name: `${snippet} snippet` }).waitFor()
    }
    await expectGoodPage(page, 'databases-connection')

    // The name is too long for PostgreSQL: the physical name differs, and the connection string uses it.
    const longName = 'x'.repeat(64)
    const long = await create(page, 'Create SQL database', longName)
    const { Database: physical } = await credentialsOf(long)
    expect(physical).not.toBe(longName)
    const longUri = await connectionStringOf(long)
    expect(await query(longUri, 'select current_database() as name')).toEqual([{ name: physical }])
    // No user can access the database of another.
    for (const [credentials, database] of [
      [uri, longUri],
      [longUri, uri],
    ] as const) {
      expect(await query(credentials.replace(/[^/]+$/, new URL(database).pathname.slice(1)), 'select 1')).toBe('42501')
    }

    await long.getByRole('button', { name: `Delete ${longName}` }).click()
    expect(
      await page.locator('.modal-body').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
    ).toBe(0)
    await page.keyboard.press('Escape')

    // After a password reset the password is masked again and the old one is rejected.
    await shop.getByRole('button', { name: 'Reset password of Shop_1' }).click()
    await expectGoodPage(page, 'databases-reset')
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
    await toast(page, 'Successfully reset password for SQL database Shop_1')
    await shop.getByText('••••••••••••').waitFor()
    const { Password: renewed } = await credentialsOf(shop)
    expect(renewed).not.toBe(credentials.Password)
    expect(await query(uri, 'select 1')).toBe('28P01')
    const renewedUri = await connectionStringOf(shop)
    expect(await query(renewedUri, 'select count(*)::int as count from orders')).toEqual([{ count: 50000 }])

    await shop.getByRole('button', { name: 'Delete Shop_1' }).click()
    await expectGoodPage(page, 'databases-delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await toast(page, 'Successfully deleted SQL database Shop_1')
    await shop.waitFor({ state: 'detached' })
    expect(await query(renewedUri, 'select 1')).toMatch(/^(28P01|28000|3D000)$/)
    await page.reload()
    await long.waitFor()
    expect(await shop.count()).toBe(0)
    expect(errors).toEqual([])
  },
)

const mongoTest = mongoPath === undefined ? test.skip : browserTest

mongoTest('a MongoDB database is created, used with its credentials, reset and deleted', async () => {
  product = await startProduct({ QUARTERDECK_SAMPLE: 'off', PATH: mongoPath! })
  const { page, errors } = await openPage(product.url)
  await signUp(page, product)
  await page.getByRole('link', { name: 'Databases' }).click()
  await page.getByText('No MONGO databases yet').waitFor()

  const logs = await create(page, 'Create MONGO database', 'logs')
  await toast(page, 'Successfully created MONGO database logs')
  await logs.getByText('0 collections').waitFor()
  const { Username: username, Password: password, Database: database } = await credentialsOf(logs)
  expect({ username, database }).toEqual({ username: 'logs', database: 'logs' })
  const uri = await connectionStringOf(logs)
  expect(uri).toMatch(/^mongodb:\/\/logs:/)

  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 10_000 })
  const lines = client.db().collection('lines')
  await lines.insertOne({ text: 'hello' })
  expect(await lines.findOne({}, { projection: { _id: 0 } })).toEqual({ text: 'hello' })
  await client.close()
  expect(await logs.getByText(SIZE).innerText()).toBe('0 Bytes')
  await page.getByRole('button', { name: 'Refresh' }).click()
  await logs.getByText('1 collection', { exact: true }).waitFor()
  expect(await logs.getByText(SIZE).innerText()).toMatch(/^\d+\.\d\d KB$/)
  for (const snippet of ['mongosh', 'Node.js', 'Spring', 'Plugin config']) {
    await logs.getByRole('button', { name: snippet, exact: true }).click()
    await logs.getByRole('group', { name: `${snippet} snippet` }).waitFor()
  }
  await expectGoodPage(page, 'databases-mongo')

  // No user can access the database of another: each database has its own server with its own users.
  const other = await create(page, 'Create MONGO database', 'other')
  const { host } = new URL(await connectionStringOf(other))
  const intruder = new MongoClient(Object.assign(new URL(uri), { host }).href, { serverSelectionTimeoutMS: 10_000 })
  await expect(intruder.db('other').collection('lines').countDocuments()).rejects.toThrow(/[Aa]uth/)
  await intruder.close()

  await logs.getByRole('button', { name: 'Reset password of logs' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
  await toast(page, 'Successfully reset password for MONGO database logs')
  await logs.getByText('••••••••••••').waitFor()
  expect((await credentialsOf(logs)).Password).not.toBe(password)
  const renewedUri = await connectionStringOf(logs)
  const renewed = new MongoClient(renewedUri, { serverSelectionTimeoutMS: 10_000 })
  expect(await renewed.db().collection('lines').countDocuments()).toBe(1)
  await renewed.close()
  // The server was restarted, possibly on another port.
  const old = Object.assign(new URL(uri), { host: new URL(renewedUri).host }).href
  const refused = new MongoClient(old, { serverSelectionTimeoutMS: 10_000 })
  await expect(refused.db().collection('lines').countDocuments()).rejects.toThrow(/[Aa]uth/)
  await refused.close()

  await logs.getByRole('button', { name: 'Delete logs' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await toast(page, 'Successfully deleted MONGO database logs')
  await logs.waitFor({ state: 'detached' })
  const gone = new MongoClient(renewedUri, { serverSelectionTimeoutMS: 1000 })
  await expect(gone.db().collection('lines').countDocuments()).rejects.toThrow()
  await gone.close()
  expect(errors).toEqual([])
})

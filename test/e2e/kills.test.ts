import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { call } from '../support/browser/api'
import { browserTest, openPage } from '../support/browser/browserTest'
import { signUp, useProduct } from '../support/browser/startProduct'

/** The number of kills; `KILLS=20 npx jest … test/e2e/kills.test.ts` runs more. */
const KILLS = Number(process.env.KILLS ?? 3)

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })

const DEFINITION = `name: world\ntype: process\ndataDirectory: /world\nrun: { command: ["node", "-e", "console.log('Done'); process.stdin.resume()"] }\nready: Done\nstop: { timeoutSeconds: 1 }\n`

async function typeAtTheEnd(page: Page, text: string): Promise<void> {
  await page.locator('.ace_text-input').focus()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText(text)
}

const dialog = (page: Page) => page.getByRole('dialog')

browserTest(
  'ten pages survive kills of the platform without a reload and without losing drafts',
  async () => {
    const share = join(product().dataDir, 'nfsshare')
    await mkdir(share, { recursive: true })
    await writeFile(join(share, 'lobby.yml'), 'motd: Hello\n')
    const { context, page: overview, errors } = await openPage(product().url)
    await signUp(overview, product())
    await call(overview, 'POST', '/deployments', { name: 'world', type: 'process' })
    await call(overview, 'PATCH', '/deployments/world', { content: DEFINITION })
    await call(overview, 'POST', '/deployments/world/toggle', { enabled: true })
    const instance = await overview.getByRole('link', { name: /-world/ }).getAttribute('href')

    const open = async (path: string): Promise<Page> => {
      const page = await context.newPage()
      page.setDefaultTimeout(60_000)
      await page.goto(path)
      await page.getByRole('navigation').first().waitFor()
      return page
    }
    /** Each page with an element that must reappear after every kill. */
    const pages: Record<string, { page: Page; sign: (page: Page) => ReturnType<Page['locator']> }> = {
      overview: { page: overview, sign: (page) => page.getByText('Live', { exact: true }) },
      deployments: {
        page: await open('/deployments'),
        sign: (page) => page.getByRole('article', { name: 'world', includeHidden: true }),
      },
      configuration: {
        page: await open('/deployments/world/edit'),
        sign: (page) => page.getByText('Unsaved changes', { exact: true }),
      },
      console: { page: await open(instance!), sign: (page) => page.getByText('Connected', { exact: true }) },
      metrics: {
        page: await open(`${instance!}?tab=metrics`),
        sign: (page) => page.getByRole('region', { name: 'CPU metrics' }),
      },
      files: {
        page: await open('/files'),
        sign: (page) => page.getByRole('button', { name: 'lobby.yml', exact: true }),
      },
      editor: { page: await open('/files'), sign: (page) => dialog(page).getByText('Unsaved changes') },
      databases: {
        page: await open('/databases'),
        sign: (page) => page.getByRole('heading', { name: 'SQL Databases', includeHidden: true, exact: true }),
      },
      admin: { page: await open('/admin'), sign: (page) => page.getByRole('listitem', { name: 'ann', exact: true }) },
      activity: { page: await open('/activity'), sign: (page) => page.getByText('created deployment').first() },
    }
    expect(Object.keys(pages)).toHaveLength(10)
    const { deployments, configuration, editor, databases, files } = pages as Record<string, { page: Page }>

    await deployments!.page.getByRole('button', { name: 'Create Deployment', exact: true }).click()
    await dialog(deployments!.page).getByLabel('Name').fill('half-filled')
    await databases!.page.getByRole('button', { name: 'Create SQL database' }).click()
    await dialog(databases!.page).getByLabel('Database name').fill('half_filled')
    await editor!.page.getByRole('button', { name: 'lobby.yml', exact: true }).click()
    await typeAtTheEnd(editor!.page, '# begun\n')
    await typeAtTheEnd(configuration!.page, '# begun\n')
    await files!.page.getByLabel('Filter by name').fill('lobby')
    for (const { page } of Object.values(pages)) await page.evaluate(() => Object.assign(window, { isTheSame: true }))

    const typed = ['# begun\n']
    for (let kill = 1; kill <= KILLS; kill++) {
      // A different moment each time: during a poll, a socket connect or a draft write.
      await delay((kill * 377) % 1500)
      await product().kill()
      const text = `# while the platform was away ${kill}\n`
      await Promise.all([typeAtTheEnd(editor!.page, text), typeAtTheEnd(configuration!.page, text)])
      typed.push(text)
      // Navigating while the platform is away works.
      for (const name of ['Deployments', 'Files', 'Databases', 'Overview'])
        await overview.getByRole('banner').getByRole('link', { name, exact: true }).click()
      await overview.getByText(/^Not connected since/).waitFor()
      await product().restart()

      for (const [name, { page, sign }] of Object.entries(pages)) {
        await page.getByText(/^Not connected since/).waitFor({ state: 'detached' })
        await sign(page).waitFor({ state: 'attached' })
        expect({
          kill,
          name,
          isTheSame: await page.evaluate(() => 'isTheSame' in window),
          broken: await page.getByText('Something went wrong').count(),
        }).toEqual({ kill, name, isTheSame: true, broken: 0 })
      }
      expect(await dialog(deployments!.page).getByLabel('Name').inputValue()).toBe('half-filled')
      expect(await dialog(databases!.page).getByLabel('Database name').inputValue()).toBe('half_filled')
      expect(await files!.page.getByLabel('Filter by name').inputValue()).toBe('lobby')
    }

    // All typed text is present and is saved.
    await editor!.page.keyboard.press('Control+S')
    await dialog(editor!.page).getByText('Saved', { exact: true }).waitFor()
    expect(await readFile(join(share, 'lobby.yml'), 'utf8')).toBe(`motd: Hello\n${typed.join('')}`)
    await configuration!.page.getByRole('button', { name: 'Save Changes' }).click()
    await configuration!.page.getByText('Changes saved successfully!').waitFor()
    const { content } = (await call(overview, 'GET', '/deployments/world')) as { content: string }
    expect(content).toBe(DEFINITION + typed.join(''))
    await dialog(databases!.page).getByRole('button', { name: 'Create' }).click()
    await databases!.page.getByRole('article', { name: 'half_filled', exact: true }).waitFor()
    expect(errors).toEqual([])
  },
  120_000 + KILLS * 60_000,
)

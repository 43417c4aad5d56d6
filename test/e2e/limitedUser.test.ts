import type { Page } from 'playwright-core'
import { call } from '../support/browser/api'
import { browserTest, expectGoodPage, openPage, takeTabletScreenshots } from '../support/browser/browserTest'
import { register, signUp, useProduct } from '../support/browser/startProduct'

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })
const toast = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text, { exact: true }).waitFor()

browserTest(
  'an administrator invites a limited user, changes their rights and ends their session, and creates an API key that works',
  async () => {
    const [ann, bob] = [await openPage(product().url), await openPage(product().url)]
    const { page } = ann
    await signUp(page, product())
    for (const name of ['lobby', 'arena', 'creative'])
      await call(page, 'POST', '/deployments', { name, type: 'scalable' })

    // The invite carries the role and the rights.
    await page.goto('/admin?tab=invites')
    await page.getByRole('button', { name: 'Create Invite Code' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Message').fill('for bob')
    await dialog.getByRole('radio', { name: 'Limited' }).check()
    await dialog.getByRole('checkbox', { name: 'Console on lobby' }).check()
    await expectGoodPage(page, 'admin-create-invite-limited')
    await takeTabletScreenshots(page, 'admin-create-invite-limited')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    const invite = page.getByRole('listitem', { name: 'for bob' })
    await invite.getByText('Limited to lobby').waitFor()
    const inviteCode = await invite.locator('code').innerText()

    await register(bob.page, { inviteCode, username: 'bob', password: 'bobs first secret' })
    await bob.page.getByRole('link', { name: 'Open Quarterdeck' }).click()
    await bob.page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
    const names = async () =>
      ((await call(bob.page, 'GET', '/deployments'))['deployments'] as { name: string }[]).map(({ name }) => name)
    expect(await names()).toEqual(['lobby'])
    await expect(call(bob.page, 'POST', '/deployments/lobby/toggle', { enabled: true })).rejects.toThrow()

    // The user's page.
    await page.getByRole('tab', { name: 'User Management' }).click()
    await expectGoodPage(page, 'admin-users-roles')
    await page.getByRole('link', { name: 'bob', exact: true }).click()
    await page.getByRole('heading', { name: 'bob', exact: true }).waitFor()
    expect(await page.getByRole('checkbox', { name: 'Console on lobby' }).isChecked()).toBe(true)
    await page.getByRole('checkbox', { name: 'Power on lobby' }).check()
    await page.getByText('Unsaved changes').waitFor()
    await expectGoodPage(page, 'admin-user')
    await takeTabletScreenshots(page, 'admin-user')
    await page.getByRole('button', { name: 'Save rights' }).click()
    await toast(page, 'Successfully changed the rights of bob')
    await call(bob.page, 'POST', '/deployments/lobby/toggle', { enabled: false })
    await page.getByRole('button', { name: /^End the session of / }).click()
    await dialog.getByRole('button', { name: 'End', exact: true }).click()
    await page.getByText('No open sessions').waitFor()
    await bob.page.getByRole('heading', { name: 'Sign In', exact: true }).waitFor()
    await page.getByRole('link', { name: 'All activity' }).click()
    await page.getByRole('combobox', { name: 'User' }).waitFor()
    expect(await page.getByRole('combobox', { name: 'User' }).inputValue()).toBe('bob')
    await expectGoodPage(page, 'activity-of-user')

    // An API key.
    await page.getByRole('button', { name: 'Your account' }).click()
    await page.getByRole('menuitem', { name: 'API keys' }).click()
    await page.getByText('You have no API keys yet').waitFor()
    await expectGoodPage(page, 'keys-none')
    await page.getByRole('button', { name: 'Create API key' }).click()
    await dialog.getByLabel('Name').fill('nightly restart')
    await dialog.getByRole('radio', { name: 'Selected deployments' }).check()
    await dialog.getByRole('checkbox', { name: 'lobby' }).check()
    await dialog.getByLabel('Expiry').selectOption('On a date')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await dialog.getByText('Choose today or a later date').waitFor()
    await expectGoodPage(page, 'keys-create')
    await takeTabletScreenshots(page, 'keys-create')
    await dialog.getByLabel('Last day').fill('2099-12-31')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Your New API Key', exact: true }).waitFor()
    const key = await dialog.locator('code').first().innerText()
    expect(key).toMatch(/^qd_\w{40}$/)
    await expectGoodPage(page, 'keys-created')
    await dialog.getByRole('button', { name: 'I have copied it' }).click()

    const read = await fetch(`${product().url}/api/deployments`, { headers: { authorization: `Bearer ${key}` } })
    expect(read.status).toBe(200)
    const answer = (await read.json()) as { data: { deployments: { name: string }[] } }
    expect(answer.data.deployments.map(({ name }) => name)).toEqual(['lobby'])
    const refused = await fetch(`${product().url}/api/users`, { headers: { authorization: `Bearer ${key}` } })
    expect(refused.status).toBe(403)
    await page.reload()
    const item = page.getByRole('listitem', { name: 'nightly restart' })
    // Not `never used`.
    await item.getByText(/ · used .+ · /).waitFor()
    await expectGoodPage(page, 'keys')
    await takeTabletScreenshots(page, 'keys')
    await item.getByRole('button', { name: 'Delete the API key nightly restart' }).click()
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('You have no API keys yet').waitFor()
    expect([...ann.errors, ...bob.errors]).toEqual([])
  },
  240_000,
)

import { generate } from 'otplib'
import type { Page } from 'playwright-core'
import { call } from '../support/browser/api'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { register, useProduct } from '../support/browser/startProduct'
import { until } from '../support/platform/until'

const PASSWORDS = {
  ann: 'correct horse battery',
  bob: 'bobs first secret',
  bobReset: 'set by the administrator',
  annChanged: 'a much newer secret',
}
const STEP_MS = 30_000
const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })

/** An authenticator app. A code is accepted once, so the clock of the platform advances to the next code first. */
function authenticator() {
  let secret = ''
  return {
    learn(shown: string) {
      secret = shown
    },
    async code(): Promise<string> {
      await product().passTime(STEP_MS)
      return generate({ secret, epoch: Math.floor(product().now() / 1000) })
    },
  }
}

const toast = (page: Page, text: string) =>
  page.getByRole('region', { name: 'Notifications' }).getByText(text, { exact: true }).waitFor()
const row = (page: Page, name: string) => page.getByRole('listitem', { name, exact: true })
const signedOut = (page: Page) => page.getByRole('heading', { name: 'Sign In', exact: true }).waitFor()

async function enterPassword(page: Page, username: string, password: string): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign In' }).click()
}

async function signIn(
  page: Page,
  username: string,
  password: string,
  app: ReturnType<typeof authenticator>,
): Promise<void> {
  await page.goto('/login')
  await enterPassword(page, username, password)
  await page.getByLabel('Verification code').fill(await app.code())
  await page.getByRole('button', { name: 'Verify Code' }).click()
  await page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
}

const choose = async (page: Page, name: string, action: string) => {
  await row(page, name)
    .getByRole('button', { name: `Actions for ${name}` })
    .click()
  await row(page, name).getByRole('menuitem', { name: action, exact: true }).click()
}

/** Rows are 40 px high where they have columns (issue 18). Below, nothing is wider than the list. */
async function expectDense(page: Page, name: string): Promise<void> {
  for (const width of [1440, 1024]) {
    await page.setViewportSize({ width, height: 900 })
    const { height } = (await row(page, name).boundingBox())!
    expect({ width, height: Math.round(height) }).toEqual({ width, height: 41 })
  }
  for (const width of [768, 360]) {
    await page.setViewportSize({ width, height: 760 })
    const tooWide = await row(page, name).evaluate((element) => element.scrollWidth > element.clientWidth)
    expect({ width, tooWide }).toEqual({ width, tooWide: false })
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

browserTest(
  'an administrator manages users, invites, sessions and passwords, and the activity log contains no secrets',
  async () => {
    const [ann, bob, phone, tablet, watch] = [
      await openPage(product().url),
      await openPage(product().url),
      await openPage(product().url),
      await openPage(product().url),
      await openPage(product().url),
    ]
    const [annsApp, bobsApp] = [authenticator(), authenticator()]
    annsApp.learn(
      await register(ann.page, { inviteCode: product().inviteCode, username: 'ann', password: PASSWORDS.ann }),
    )
    await ann.page.getByRole('link', { name: 'Open Quarterdeck' }).click()
    await ann.page.getByRole('link', { name: 'Admin' }).click()

    // Users: ann's own row offers neither demote nor delete.
    await row(ann.page, 'ann').getByText('You', { exact: true }).waitFor()
    await row(ann.page, 'ann').getByRole('button', { name: 'Actions for ann' }).click()
    await row(ann.page, 'ann').getByRole('menuitem', { name: 'Reset password' }).waitFor()
    expect(await row(ann.page, 'ann').getByRole('menuitem').count()).toBe(1)
    await expectGoodPage(ann.page, 'admin-user-menu')
    await ann.page.keyboard.press('Escape')
    expect(await row(ann.page, 'ann').getByRole('switch').count()).toBe(0)

    // Invite codes.
    await ann.page.getByRole('button', { name: 'Invite', exact: true }).click()
    const dialog = ann.page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await dialog.getByText('Message cannot be empty').waitFor()
    await expectGoodPage(ann.page, 'admin-create-invite')
    await dialog.getByLabel('Message').fill('for bob')
    await dialog.getByRole('button', { name: 'Create', exact: true }).click()
    await toast(ann.page, 'Successfully created the invite code')
    await row(ann.page, 'for bob').getByText('Active').waitFor()
    await ann.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await row(ann.page, 'for bob').getByRole('button', { name: 'Copy link of "for bob"' }).click()
    const link = await until(
      () => ann.page.evaluate(() => navigator.clipboard.readText()),
      (text) => text.includes('/register?invite='),
    )
    const code = new URL(link).searchParams.get('invite')!
    expect(link).toBe(`${product().url}/register?invite=${code}`)
    await row(ann.page, 'for bob').getByText(code).waitFor()
    await row(ann.page, 'for bob')
      .getByRole('button', { name: /^Copy (?:the )?code/ })
      .click()
    await ann.page.waitForFunction(async (expected) => (await navigator.clipboard.readText()) === expected, code)

    bobsApp.learn(await register(bob.page, { link, username: 'bob', password: PASSWORDS.bob }))
    expect(bob.page.url()).not.toContain(code)
    await bob.page.getByRole('link', { name: 'Open Quarterdeck' }).click()
    await bob.page.goto('/admin')
    await bob.page.getByRole('heading', { name: 'Administrators only', exact: true }).waitFor()
    await expectGoodPage(bob.page, 'admin-refused')

    await ann.page.getByRole('button', { name: 'Create Invite Code' }).click()
    await dialog.getByLabel('Message').fill('a mistake')
    await dialog.getByLabel('Message').press('Enter')
    await row(ann.page, 'a mistake').getByText('Active').waitFor()
    await row(ann.page, 'for bob').getByText('Used', { exact: true }).waitFor()
    await row(ann.page, 'for bob').getByText('bob', { exact: true }).waitFor()
    // The label covers its radio button.
    await ann.page.getByText('Active 1', { exact: true }).click()
    await row(ann.page, 'for bob').waitFor({ state: 'detached' })
    await expectGoodPage(ann.page, 'admin-invites-active')
    await ann.page.getByText('All 3', { exact: true }).click()
    await row(ann.page, 'a mistake').getByRole('button', { name: 'Delete the invite code "a mistake"' }).click()
    const mistake = await dialog.locator('code').innerText()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await row(ann.page, 'a mistake').getByText('Revoked').waitFor()
    await expectGoodPage(ann.page, 'admin-invites')
    await expectDense(ann.page, 'for bob')
    // The search matches code, message and user, ignoring case.
    const search = ann.page.getByRole('searchbox', { name: 'Search invite codes' })
    for (const [text, shown, hidden] of [
      ['BOB', 'for bob', 'a mistake'],
      [mistake.toLowerCase(), 'a mistake', 'for bob'],
      ['A MIST', 'a mistake', 'for bob'],
    ] as const) {
      await search.fill(text)
      await row(ann.page, hidden).waitFor({ state: 'detached' })
      await row(ann.page, shown).waitFor()
    }
    await search.fill('nothing like it')
    await row(ann.page, 'a mistake').waitFor({ state: 'detached' })
    await expectGoodPage(ann.page, 'admin-invites-none')
    await search.fill('')
    await row(ann.page, 'for bob').waitFor()
    await phone.page.goto(`/register?invite=${mistake}`)
    await phone.page.getByRole('button', { name: 'Continue' }).click()
    await phone.page.getByRole('alert').waitFor()

    // A promotion, then a password reset that ends bob's session; bob signs in with the new password.
    await ann.page.getByRole('tab', { name: 'User Management' }).click()
    await row(ann.page, 'bob').getByRole('switch').click()
    await toast(ann.page, 'bob is now an administrator')
    await expectGoodPage(ann.page, 'admin-users')
    await expectDense(ann.page, 'bob')
    await choose(ann.page, 'bob', 'Reset password')
    await dialog.getByRole('button', { name: 'Reset', exact: true }).click()
    await dialog.getByText('Password cannot be empty').waitFor()
    await dialog.getByLabel('New password').fill('short 7')
    await dialog.getByText('Password must be at least 8 characters').waitFor()
    await expectGoodPage(ann.page, 'admin-reset')
    await bob.page.getByRole('link', { name: 'Overview' }).click()
    await bob.page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()
    // The promotion takes effect with bob's next request and survives a reload.
    await bob.page.getByRole('link', { name: 'Admin' }).waitFor()
    await bob.page.reload()
    await bob.page.getByRole('link', { name: 'Admin' }).waitFor()
    await dialog.getByLabel('New password').fill(PASSWORDS.bobReset)
    await dialog.getByRole('button', { name: 'Reset', exact: true }).click()
    await toast(ann.page, 'Successfully reset the password of bob')
    await signedOut(bob.page)
    await enterPassword(bob.page, 'bob', PASSWORDS.bob)
    await bob.page.getByRole('alert').waitFor()
    await signIn(bob.page, 'bob', PASSWORDS.bobReset, bobsApp)

    // A demotion while bob has the page open.
    await bob.page.getByRole('link', { name: 'Admin' }).click()
    await row(bob.page, 'ann').waitFor()
    await row(ann.page, 'bob').getByRole('switch').click()
    await toast(ann.page, 'bob is no longer an administrator')
    await bob.page.getByRole('tab', { name: 'Invite Codes' }).click()
    await bob.page.getByRole('heading', { name: 'Administrators only', exact: true }).waitFor()
    expect(await bob.page.getByRole('link', { name: 'Admin' }).count()).toBe(0)

    // §8: a problem that has no notification is listed behind the bell, with its reason.
    await ann.page.route('**/api/users/*/admin', (route) => route.abort())
    await row(ann.page, 'bob').getByRole('switch').click()
    await ann.page.getByRole('button', { name: 'Problems: 1 new' }).click()
    await dialog.getByText('Failed to make bob an administrator').waitFor()
    await expectGoodPage(ann.page, 'problems')
    await ann.page.keyboard.press('Escape')
    await ann.page.getByRole('button', { name: 'Problems', exact: true }).waitFor()
    expect(await row(ann.page, 'bob').getByRole('switch').isChecked()).toBe(false)

    // Kubernetes: no cluster is configured.
    await ann.page.getByRole('tab', { name: 'Kubernetes Dashboard' }).click()
    await ann.page.getByRole('heading', { name: 'The Kubernetes dashboard is not available', exact: true }).waitFor()
    await ann.page.getByText(/Set KUBECONFIG/).waitFor()
    await expectGoodPage(ann.page, 'admin-dashboard')

    // ann has two sessions and ends the other one.
    await signIn(phone.page, 'ann', PASSWORDS.ann, annsApp)
    await ann.page.getByRole('button', { name: 'Your account' }).click()
    await ann.page.getByText('Signed in as ann').waitFor()
    await expectGoodPage(ann.page, 'user-menu')
    await ann.page.getByRole('menuitem', { name: 'Your sessions' }).click()
    await dialog.getByRole('listitem').nth(1).waitFor()
    await dialog.getByText('This session').waitFor()
    await expectGoodPage(ann.page, 'own-sessions')
    await dialog.getByRole('button', { name: /^End the session of/ }).click()
    await ann.page.getByRole('dialog', { name: 'End Session' }).getByRole('button', { name: 'End' }).click()
    await toast(ann.page, 'Ended the session')
    await dialog.getByText('You are signed in nowhere else.').waitFor()
    await ann.page.keyboard.press('Escape')
    await signedOut(phone.page)
    await signIn(tablet.page, 'bob', PASSWORDS.bobReset, bobsApp)

    // A password change ends the other sessions and keeps this one.
    await signIn(phone.page, 'ann', PASSWORDS.ann, annsApp)
    await ann.page.getByRole('button', { name: 'Your account' }).click()
    await ann.page.getByRole('menuitem', { name: 'Change password' }).click()
    await expectGoodPage(ann.page, 'change-password')
    await dialog.getByLabel('Current password').fill('not the password')
    await dialog.getByLabel('New password', { exact: true }).fill(PASSWORDS.annChanged)
    await dialog.getByLabel('Repeat new password').fill(PASSWORDS.annChanged)
    await dialog.getByLabel('Verification code').fill('000000')
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('Current password').fill(PASSWORDS.ann)
    await dialog.getByLabel('Verification code').fill(await annsApp.code())
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await toast(ann.page, 'Password changed. All your other sessions have ended.')
    await signedOut(phone.page)
    await enterPassword(phone.page, 'ann', PASSWORDS.ann)
    await phone.page.getByRole('alert').waitFor()
    await enterPassword(phone.page, 'ann', PASSWORDS.annChanged)
    await phone.page.getByLabel('Verification code').waitFor()

    // bob has three sessions and ends the others at once.
    await signIn(watch.page, 'bob', PASSWORDS.bobReset, bobsApp)
    await bob.page.getByRole('button', { name: 'Your account' }).click()
    await bob.page.getByRole('menuitem', { name: 'Your sessions' }).click()
    await bob.page.getByRole('button', { name: 'End all others' }).click()
    const question = bob.page.getByRole('dialog', { name: 'End All Other Sessions' })
    await question.getByText('End your 2 other sessions?').waitFor()
    await expectGoodPage(bob.page, 'end-all-others')
    await question.getByRole('button', { name: 'End', exact: true }).click()
    await toast(bob.page, 'Ended all other sessions')
    await bob.page.getByRole('dialog').getByText('You are signed in nowhere else.').waitFor()
    for (const { page } of [tablet, watch]) await signedOut(page)

    // Deleting bob.
    await bob.page.goto('/')
    await ann.page.getByRole('tab', { name: 'User Management' }).click()
    await choose(ann.page, 'bob', 'Delete')
    await dialog.getByText('Are you sure you want to delete the user "bob"?').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await toast(ann.page, 'Successfully deleted bob')
    await row(ann.page, 'bob').waitFor({ state: 'detached' })
    await signedOut(bob.page)

    // The activity log.
    await ann.page.getByRole('link', { name: 'Activity' }).click()
    const log = ann.page.getByRole('main').getByRole('listitem')
    await log.filter({ hasText: /ann.*deleted user bob/ }).waitFor()
    for (const entry of [
      'changed own password',
      'ended own session',
      'reset password of bob',
      'created invite code for bob',
      'signed in',
    ]) {
      await log.filter({ hasText: entry }).first().waitFor()
    }
    await log
      .filter({ hasText: /bob.*Failed: wrong username or password/ })
      .first()
      .waitFor()
    await expectGoodPage(ann.page, 'admin-activity')
    const entries = JSON.stringify(await call(ann.page, 'GET', '/activity'))
    for (const secret of [...Object.values(PASSWORDS), code, mistake, 'not the password'])
      expect(entries).not.toContain(secret)
    await ann.page.getByRole('combobox', { name: 'Time' }).selectOption('Last hour')
    await log.filter({ hasText: /ann.*deleted user bob/ }).waitFor()
    await ann.page.getByRole('combobox', { name: 'Kind of activity' }).selectOption('Invite codes')
    await log.filter({ hasText: 'deleted user' }).waitFor({ state: 'detached' })
    await ann.page.getByRole('searchbox', { name: 'Search activity' }).fill('MISTAKE')
    await log.filter({ hasText: 'for bob' }).waitFor({ state: 'detached' })
    expect(await log.count()).toBe(2)
    await ann.page.getByRole('searchbox', { name: 'Search activity' }).fill('nothing like it')
    await ann.page.getByText('Nothing matches these filters').waitFor()

    // Back to the admin page.
    await ann.page.goBack()
    await row(ann.page, 'ann').waitFor()
    for (const { errors } of [ann, bob, phone, tablet, watch]) expect(errors).toEqual([])
  },
)

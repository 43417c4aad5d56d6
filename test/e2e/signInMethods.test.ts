import { readFileSync } from 'node:fs'
import type { CDPSession, Page } from 'playwright-core'
import type { SignInMethodsResponse } from '../../src/contract/signIn/auth'
import { browserTest, expectGoodPage, openPage, takeTabletScreenshots } from '../support/browser/browserTest'
import { register, startProduct, useProduct, type Product } from '../support/browser/startProduct'
import { freePort } from '../support/platform/freePort'
import { startIdentityProvider } from '../support/platform/openid/identityProvider'
import { openIdEnvironment } from '../support/platform/openid/openIdBrowser'
import { codeOf } from '../support/platform/registerAccount'
import { until } from '../support/platform/until'

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })
const PASSWORD = 'correct horse battery'

/** Passkeys need a domain name. */
const onLocalhost = (url: string) => url.replace('127.0.0.1', 'localhost')

/** Gives the page's browser a device with passkeys, whose user always agrees unless `setAgrees(false)`. */
async function addDevice(page: Page) {
  const session: CDPSession = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return {
    setAgrees: (agrees: boolean) =>
      session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: agrees }),
  }
}

/** Codes of an authenticator that were not used before: the platform's clock moves on for each. */
function codesOf(of: () => Product) {
  let steps = 0
  return async (secret: string) => {
    await of().passTime(30_000)
    return codeOf(secret, ++steps)
  }
}

async function prove(page: Page, button: string, code: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByLabel('Code').fill(code)
}
const press = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Logout' }).click()
  await page.getByRole('heading', { name: 'Sign In', exact: true }).waitFor()
}

async function enterPassword(page: Page, username: string): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await page.getByRole('button', { name: 'Verify Code' }).waitFor()
}
/** The ways to sign in that the server reports to the login page. */
async function methodsOf({ address }: Product) {
  const answer = await fetch(`${address}/api/auth/methods`)
  return ((await answer.json()) as SignInMethodsResponse).data
}
const overview = (page: Page) => page.getByRole('heading', { name: 'Network Overview', exact: true }).waitFor()

async function openMethods(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByRole('menuitem', { name: 'Sign-in methods' }).click()
  await page.getByRole('region', { name: 'Passkeys' }).waitFor()
}

async function takePictures(page: Page, name: string): Promise<void> {
  await expectGoodPage(page, name)
  await takeTabletScreenshots(page, name)
}

browserTest(
  'a passkey signs in alone and as the second step, and so do a recovery code and a second authenticator app',
  async () => {
    const { page, errors } = await openPage(onLocalhost(product().url))
    const device = await addDevice(page)
    const nextCode = codesOf(product)
    const secret = await register(page, {
      inviteCode: product().inviteCode ?? '',
      username: 'ann',
      password: PASSWORD,
    })
    await page.getByRole('link', { name: 'Open Quarterdeck' }).click()
    await overview(page)
    await openMethods(page)
    await takePictures(page, 'security-first')

    // A passkey.
    await prove(page, 'Add passkey', await nextCode(secret))
    await takePictures(page, 'security-proof')
    await press(page, 'Continue')
    await page.getByRole('dialog').getByLabel('Name').fill('Laptop')
    await takePictures(page, 'security-passkey-name')
    await press(page, 'Create passkey')
    await page.getByRole('listitem', { name: 'Laptop' }).waitFor()

    // Recovery codes.
    await prove(page, 'Create codes', await nextCode(secret))
    await press(page, 'Create codes')
    const dialog = page.getByRole('dialog', { name: 'Your New Recovery Codes' })
    await dialog.getByRole('listitem').first().waitFor()
    const codes = await dialog.getByRole('listitem').allInnerTexts()
    expect(codes).toHaveLength(10)
    await takePictures(page, 'security-recovery-codes')
    const download = page.waitForEvent('download')
    await press(page, 'Download')
    const file = await download
    expect(file.suggestedFilename()).toBe('quarterdeck-recovery-codes.txt')
    expect(readFileSync(await file.path(), 'utf8')).toContain(codes.join('\n'))
    await press(page, 'I have kept them')
    await page.getByText('You have 10 codes left.').waitFor()

    // A second authenticator app.
    await prove(page, 'Add app', await nextCode(secret))
    await press(page, 'Continue')
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    const second = (await page.getByRole('dialog').locator('code').innerText()).replaceAll(/\s/g, '')
    await page.getByRole('dialog').getByLabel('Name').fill('Tablet')
    await takePictures(page, 'security-authenticator')
    await page
      .getByRole('dialog')
      .getByLabel('Verification code')
      .fill(await nextCode(second))
    await press(page, 'Add')
    await page.getByRole('listitem', { name: 'Tablet' }).waitFor()
    await takePictures(page, 'security')

    // The passkey alone; one that did not verify its user signs in only after the password.
    await signOut(page)
    await takePictures(page, 'login-passkey')
    await device.setAgrees(false)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByRole('alert').getByText('No passkey was used').waitFor()
    await expectGoodPage(page, 'login-passkey-cancelled')
    await device.setAgrees(true)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await overview(page)

    // The passkey after the password.
    await signOut(page)
    await enterPassword(page, 'ann')
    await takePictures(page, 'login-second-step')
    await page.getByRole('button', { name: 'Use a passkey instead' }).click()
    await overview(page)

    // A recovery code, once.
    await signOut(page)
    await enterPassword(page, 'ann')
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(codes[0]!.toLowerCase())
    await takePictures(page, 'login-recovery-code')
    await page.getByRole('button', { name: 'Sign in with this code' }).click()
    await overview(page)
    await openMethods(page)
    await page.getByText('You have 9 codes left.').waitFor()

    // The second authenticator app.
    await signOut(page)
    await enterPassword(page, 'ann')
    await page.getByLabel('Verification code').fill(await nextCode(second))
    await page.getByRole('button', { name: 'Verify Code' }).click()
    await overview(page)

    // The first app is removed with the passkey as proof, and a code of it no longer works.
    await openMethods(page)
    const first = page.getByRole('region', { name: 'Authenticator apps' }).getByRole('listitem').first()
    await first.getByRole('button', { name: /^Remove the authenticator app/ }).click()
    await page.getByRole('dialog').getByLabel('Password').fill(PASSWORD)
    await press(page, 'Use a passkey instead of a code')
    await takePictures(page, 'security-remove')
    await press(page, 'Remove')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await signOut(page)
    await enterPassword(page, 'ann')
    await page.getByLabel('Verification code').fill(await nextCode(secret))
    await page.getByRole('button', { name: 'Verify Code' }).click()
    await page.getByRole('alert').waitFor()
    expect(errors).toEqual([])
  },
  360_000,
)

browserTest(
  'a user connects their account to the provider on the page, signs in with it, and disconnects it',
  async () => {
    // The provider must know the console's address, which is known once the console runs.
    const port = await freePort()
    const other = await startProduct({
      QUARTERDECK_SAMPLE: 'off',
      ...openIdEnvironment(`http://127.0.0.1:${port}`),
    })
    const url = onLocalhost(other.url)
    const provider = await startIdentityProvider([`${url}/api/auth/oidc/callback`], port)
    try {
      // The platform started before the provider, and asks it again after some seconds.
      await until(async () => (await methodsOf(other)).openId?.available)
      const { page, errors } = await openPage(url)
      const nextCode = codesOf(() => other)
      provider.people.set('ann-1', { preferred_username: 'ann', groups: ['admins'] })
      provider.people.set('bob-1', { preferred_username: 'bob', groups: ['staff'] })
      /** Fills in the provider's pages until they lead back. */
      const walk = async (on: Page, login: string) => {
        await on.locator('input[name=login]').fill(login)
        await on.locator('input[name=password]').fill('any')
        await on.locator('button[type=submit]').click()
        await on.locator('input[name=login]').waitFor({ state: 'detached' })
        await on.locator('button[type=submit]').click()
      }
      const secret = await register(page, {
        inviteCode: other.inviteCode ?? '',
        username: 'ann',
        password: PASSWORD,
      })
      await page.getByRole('link', { name: 'Open Quarterdeck' }).click()
      await overview(page)
      await openMethods(page)
      await prove(page, 'Connect to Harbour', await nextCode(secret))
      await takePictures(page, 'security-connect')
      await press(page, 'Continue')
      await walk(page, 'ann-1')
      const section = page.getByRole('region', { name: 'Single sign-on' })
      await section.getByText('Connected.', { exact: true }).waitFor()
      await takePictures(page, 'security-connected')

      await signOut(page)
      await page.getByRole('link', { name: 'Sign in with Harbour' }).click()
      await overview(page)
      await openMethods(page)
      await section.getByRole('button', { name: 'Disconnect' }).click()
      await takePictures(page, 'security-disconnect')
      await press(page, 'Disconnect')
      await section.getByText('Not connected.').waitFor()

      // The page of an account that the provider created shows that it has no password.
      const bob = await openPage(url)
      await bob.page.goto('/login')
      await bob.page.getByRole('link', { name: 'Sign in with Harbour' }).click()
      await walk(bob.page, 'bob-1')
      await overview(bob.page)
      await bob.page.goto('/security')
      await bob.page.getByText('Your account was created by Harbour', { exact: false }).waitFor()
      await takePictures(bob.page, 'security-made-by-provider')
      expect([...errors, ...bob.errors]).toEqual([])
    } finally {
      await other.close()
      await provider.close()
    }
  },
  360_000,
)

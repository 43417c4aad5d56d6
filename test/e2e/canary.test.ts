import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { call } from '../support/browser/api'
import { browserTest, openPage } from '../support/browser/browserTest'
import { signUp, useProduct } from '../support/browser/startProduct'

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })

const CANARY = '"><img src=x onerror=window.hacked=1><svg onload=window.hacked=1>{{7*7}}${window.hacked=1}'

browserTest('security 56: a script in stored names and texts is shown as text and never runs', async () => {
  const { page, errors } = await openPage(product().url)
  await signUp(page, product())
  const directory = join(product().dataDir, 'nfsshare/canary')
  await mkdir(directory, { recursive: true })
  // A file name cannot contain a slash.
  await writeFile(join(directory, `${CANARY.replaceAll('/', '')}.txt`), CANARY)
  await mkdir(join(directory, `folder ${CANARY.replaceAll('/', '')}`))
  const program = `console.log(${JSON.stringify(CANARY)}); console.error(${JSON.stringify(CANARY)}); setInterval(() => {}, 1000)`
  await call(page, 'POST', '/deployments', { name: 'canary', type: 'process' })
  await call(page, 'PATCH', '/deployments/canary', {
    content: `name: canary\ntype: process\ndescription: ${JSON.stringify(CANARY)} # ${CANARY}\ndataDirectory: /canary\nrun: { command: ["node", "-e", ${JSON.stringify(program)}] }\nstop: { timeoutSeconds: 1 }\n`,
  })
  await call(page, 'POST', '/deployments/canary/toggle', { enabled: true })
  await call(page, 'POST', '/invite-codes', { message: CANARY }).catch(() => undefined)

  const isShown = () => page.getByText('<img src=x onerror=window.hacked=1>', { exact: false }).first().waitFor()
  await page.goto('/')
  await isShown()
  await page.getByRole('link', { name: /-canary/ }).click()
  await isShown()
  for (const tab of ['Metrics', 'Details']) await page.getByRole('tab', { name: tab }).click()
  await page.goto('/deployments')
  await isShown()
  await page.goto('/deployments/canary/edit')
  await isShown()
  for (const path of [
    '/files/canary',
    `/files/${encodeURIComponent(CANARY)}`,
    '/admin?tab=invites',
    '/databases',
    `/${encodeURIComponent(CANARY)}`,
    `/login?from=${encodeURIComponent(CANARY)}`,
    `/instance/canary/${encodeURIComponent(CANARY)}`,
  ]) {
    await page.goto(path)
    await page.getByRole('heading').first().waitFor()
    await page.waitForLoadState('networkidle').catch(() => undefined)
    expect({ path, hacked: await page.evaluate<unknown>('window.hacked') }).toEqual({ path, hacked: undefined })
  }
  expect(errors).toEqual([])
})

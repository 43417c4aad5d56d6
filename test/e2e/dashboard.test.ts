import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { browserTest, expectGoodPage, openPage } from '../support/browser/browserTest'
import { signUp, startProduct, type Product } from '../support/browser/startProduct'
import { KubernetesApi } from '../support/platform/kubernetesApi'

const api = new KubernetesApi()
let directory: string
let product: Product

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quarterdeck-cluster-'))
  const { kubeconfig } = await api.start(directory)
  product = await startProduct({
    QUARTERDECK_SAMPLE: 'off',
    KUBECONFIG: kubeconfig,
    QUARTERDECK_DASHBOARD_HOST: 'https://dashboard.example',
  })
})
afterAll(async () => {
  await product.close()
  await api.stop()
  await rm(directory, { recursive: true, force: true })
})

browserTest(
  '§2 the Kubernetes dashboard token is created, shown, copied and deleted, and the host is a link',
  async () => {
    const { page, context, errors } = await openPage(product.url)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await signUp(page, product)
    await page.goto('/admin?tab=dashboard')
    await page.getByText('There is no token yet.').waitFor()
    expect(await page.getByRole('link', { name: 'https://dashboard.example' }).getAttribute('href')).toBe(
      'https://dashboard.example/',
    )

    await page.getByRole('button', { name: 'Create Token' }).click()
    await page.getByLabel('Hidden token').waitFor()
    expect(await page.getByText('dashboard-token-1').count()).toBe(0)
    expect([...api.things.keys()].filter((path) => path.includes('quarterdeck-dashboard-'))).toHaveLength(2)
    await page.getByRole('button', { name: 'Copy token' }).click()
    await page.waitForFunction(async () => (await navigator.clipboard.readText()) === 'dashboard-token-1')
    await page.getByRole('button', { name: 'Reveal' }).click()
    await page.getByText('dashboard-token-1', { exact: true }).waitFor()
    await expectGoodPage(page, 'admin-token')

    // A reload shows the same token, masked again.
    await page.reload()
    await page.getByLabel('Hidden token').waitFor()
    await page.getByRole('button', { name: 'Delete Token' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('There is no token yet.').waitFor()
    expect([...api.things.keys()].filter((path) => path.includes('quarterdeck-dashboard-'))).toEqual([])
    expect(errors).toEqual([])
  },
)

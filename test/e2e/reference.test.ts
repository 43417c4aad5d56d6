import { browserTest, openPage } from '../support/browser/browserTest'
import { startPathProxy, type PathProxy } from '../support/browser/pathProxy'
import { startProduct, type Product } from '../support/browser/startProduct'

jest.setTimeout(120_000)

let product: Product
let proxy: PathProxy
let port = 0

beforeAll(async () => {
  proxy = await startPathProxy('/console', () => port, false)
  product = await startProduct({ QUARTERDECK_PUBLIC_URL: `${proxy.origin}/console/`, QUARTERDECK_SAMPLE: 'off' })
  port = Number(new URL(product.address).port)
})
afterAll(async () => {
  await proxy.close()
  await product.close()
})

browserTest(
  'the API reference shows the calls, from this platform alone and without exceptions of its policy',
  async () => {
    const { context, page, errors } = await openPage(proxy.origin)
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    const response = await page.goto('/console/api/docs')
    expect(response?.headers()['content-security-policy']).not.toContain('unsafe')
    const call = page.locator('.opblock', { hasText: '/api/deployments' }).first()
    await call.click()
    await call.getByText('DeploymentsResponse').or(call.getByText('"deployments"')).first().waitFor()
    expect(urls.filter((url) => !url.startsWith(`${proxy.origin}/console/`) && !url.startsWith('data:'))).toEqual([])
    expect(errors).toEqual([])
    await context.close()
  },
)

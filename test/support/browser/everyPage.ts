import type { Page } from 'playwright-core'
import { PAGE_ROUTES } from '../../../src/contract/pageRoutes'
import { openPage } from './browserTest'
import type { Product } from './startProduct'

/** Headings of the pages, by their routes. Those of instances are named after the sample. */
const HEADINGS: Record<string, string | RegExp> = {
  '/replay': 'Replay action log',
  '/login': 'Sign In',
  '/register': 'Create Account',
  '/': 'Network Overview',
  '/deployments': 'Deployments',
  '/deployments/:name/edit': 'sample',
  '/admin': 'Administration',
  '/admin/users/:id': /^ann/,
  '/activity': 'Activity',
  '/keys': 'API keys',
  '/security': 'Sign-in methods',
  '/files/*': 'Files',
  '/databases': 'Databases',
  '/instance/:deploymentName/:instanceUid': /-sample$/,
  '/consoles': 'Consoles',
}
const SIGNED_OUT = ['/login', '/register']

/**
 * Opens the page of each route, with the sample deployment, and one browser profile for those without a session.
 * @param page of a signed-in user
 * @param look called with the page that shows the route
 * @throws if a route is missing here
 */
export async function openEveryPage(
  page: Page,
  product: Product,
  look: (page: Page, route: string) => Promise<void>,
): Promise<void> {
  await page.goto('/')
  const instance = await page
    .getByRole('link', { name: /-sample/ })
    .first()
    .getAttribute('href')
  const uid = instance?.split('/').at(-1) ?? ''
  const addresses: Record<string, string> = {
    '/deployments/:name/edit': '/deployments/sample/edit',
    '/admin/users/:id': '/admin/users/1',
    '/files/*': '/files/sample',
    '/instance/:deploymentName/:instanceUid': instance ?? '',
    '/consoles': `/consoles?instances=${uid}`,
  }
  const signedOut = await openPage(product.url)
  for (const route of PAGE_ROUTES) {
    const heading = HEADINGS[route]
    if (heading === undefined) throw new Error(`The route ${route} has no heading here`)
    const shown = SIGNED_OUT.includes(route) ? signedOut.page : page
    await shown.goto(addresses[route] ?? route)
    await shown.getByRole('heading', { name: heading, exact: true }).first().waitFor()
    await look(shown, route)
  }
  await signedOut.context.close()
}

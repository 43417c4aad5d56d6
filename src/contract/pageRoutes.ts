/** The routes of the page's router. The page is the answer to their addresses; every other address is 404. */
export const PAGE_ROUTES = [
  '/login',
  '/register',
  '/',
  '/deployments',
  '/deployments/:name/edit',
  '/admin',
  '/files/*',
  '/databases',
  '/instance/:deploymentName/:instanceUid',
]

const patterns = PAGE_ROUTES.map((route) => new RegExp(`^${route.replace(/\/\*$/, '(?:/.*)?').replace(/:\w+/g, '[^/]+').replace(/\/$/, '')}/*$`, 'i'))

/**
 * Whether the page's router knows an address, by the rules of React Router: without regard to case, decoded, with any number of slashes at the end.
 * @param path of the address, encoded, without its query.
 */
export function isPageRoute(path: string): boolean {
  let decoded: string
  try {
    decoded = path.split('/').map((segment) => decodeURIComponent(segment).replaceAll('/', '%2F')).join('/')
  } catch {
    decoded = path
  }
  return patterns.some((pattern) => pattern.test(decoded))
}

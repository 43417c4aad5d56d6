/** Routes of the console and of the replay page. Their addresses are answered with the page, all others with 404. */
export const PAGE_ROUTES = [
  '/replay',
  '/login',
  '/register',
  '/',
  '/deployments',
  '/deployments/:name/edit',
  '/admin',
  '/admin/users/:id',
  '/activity',
  '/keys',
  '/security',
  '/files/*',
  '/databases',
  '/instance/:deploymentName/:instanceUid',
]

/**
 * Returns whether the console has a route for an address, by the rules of React Router: case-insensitive, decoded, with
 * any number of trailing slashes.
 * @param path encoded, without the query
 */
export function isPageRoute(path: string): boolean {
  const segments = path.split('/').map(decoded)
  return PAGE_ROUTES.some((route) => matches(route.split('/'), segments))
}

function matches(route: string[], segments: string[]): boolean {
  const isWild = route.at(-1) === '*'
  const wanted = route.filter((part) => part !== '*')
  // The route / splits into two empty segments; the first one stands before the first slash of any address.
  if (wanted.length > 1 && wanted.at(-1) === '') wanted.pop()
  const isEnded = isWild || segments.slice(wanted.length).every((segment) => segment === '')
  return (
    isEnded &&
    wanted.every((part, at) => (part.startsWith(':') ? Boolean(segments[at]) : part === segments[at]?.toLowerCase()))
  )
}

/** Returns the segment unchanged if its encoding is invalid. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

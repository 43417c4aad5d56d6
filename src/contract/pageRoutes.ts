/**
 * Routes of the console and of the replay page, each with the name of the page whose file the build creates. Their
 * addresses are answered with that file, all others with 404.
 */
const PAGES = {
  '/replay': 'index',
  '/login': 'login',
  '/register': 'register',
  '/': 'overview',
  '/deployments': 'deployments',
  '/deployments/:name/edit': 'configuration',
  '/admin': 'admin',
  '/admin/users/:id': 'admin',
  '/activity': 'admin',
  '/keys': 'account',
  '/security': 'account',
  '/files/*': 'files',
  '/databases': 'databases',
  '/instance/:deploymentName/:instanceUid': 'instance',
  '/consoles': 'instance',
}

export const PAGE_ROUTES = Object.keys(PAGES)

/** Names of the query parameters that these pages read, except that of the invite code. */
export const PAGE_PARAMETERS = ['create', 'instances', 'sso', 'tab', 'username']

/** The values of `sso`: why signing in by OpenID Connect, or connecting an account, failed. */
export const OPEN_ID_FAILURES = [
  /** The step did not begin in this browser, has expired, or was used. */
  'expired',
  'cancelled',
  /** The provider does not answer. */
  'unavailable',
  /** The provider refused, or its response is not valid. */
  'refused',
  'no-role',
  'name-taken',
  /** The identity belongs to another account. */
  'identity-taken',
  /** The account has another identity. */
  'has-identity',
  /** The session of the user who connects their account has ended. */
  'session-ended',
  'too-many',
  'not-configured',
  'failed',
] as const

/**
 * Returns the name of the page at an address, by the rules of React Router: case-insensitive, decoded, with any number
 * of trailing slashes. Undefined if the console has no such route.
 * @param path encoded, without the query
 */
export function pageOf(path: string): string | undefined {
  const segments = path.split('/').map(decoded)
  return Object.entries(PAGES).find(([route]) => matches(route.split('/'), segments))?.[1]
}

function matches(route: string[], segments: string[]): boolean {
  const isWild = route.at(-1) === '*'
  const wanted = route.filter((part) => part !== '*')
  // The route / splits into two empty segments; the first one comes before the leading slash of every address.
  if (wanted.length > 1 && wanted.at(-1) === '') wanted.pop()
  // The route is compared first: an address may have thousands of segments.
  return (
    wanted.every((part, at) => (part.startsWith(':') ? Boolean(segments[at]) : part === segments[at]?.toLowerCase())) &&
    (isWild || segments.slice(wanted.length).every((segment) => segment === ''))
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

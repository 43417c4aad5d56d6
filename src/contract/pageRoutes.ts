/** The routes of the page's router, and the page of replays. The page is the answer to their addresses; every other address is 404. */
export const PAGE_ROUTES = [
  '/replay',
  '/login',
  '/register',
  '/',
  '/deployments',
  '/deployments/:name/edit',
  '/admin',
  '/activity',
  '/files/*',
  '/databases',
  '/instance/:deploymentName/:instanceUid',
]

/**
 * Whether the page's router knows an address, by the rules of React Router: without regard to case, decoded, with any number of slashes at the end.
 * @param path of the address, encoded, without its query.
 */
export function isPageRoute(path: string): boolean {
  const segments = path.split('/').map(decoded)
  return PAGE_ROUTES.some((route) => matches(route.split('/'), segments))
}

function matches(route: string[], segments: string[]): boolean {
  const isWild = route.at(-1) === '*'
  const wanted = route.filter((part) => part !== '*')
  // The route / is one empty segment, as the part of every address before its first slash.
  if (wanted.length > 1 && wanted.at(-1) === '') wanted.pop()
  const isEnded = isWild || segments.slice(wanted.length).every((segment) => segment === '')
  return (
    isEnded &&
    wanted.every((part, at) => (part.startsWith(':') ? Boolean(segments[at]) : part === segments[at]?.toLowerCase()))
  )
}

/** As it was sent where it is no valid encoding. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

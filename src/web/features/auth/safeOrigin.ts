// eslint-disable-next-line no-control-regex -- control characters are what it looks for: browsers drop them from URLs
const treacherous = /[\\\u0000-\u001f\u007f]/

/** The path and query to follow after signing in, or '/' for anything that could lead off this origin (security 60). */
export function safeOrigin(path: unknown, origin = window.location.origin): string {
  if (typeof path !== 'string' || !path.startsWith('/') || treacherous.test(path)) return '/'
  let url
  try {
    url = new URL(path, origin)
  } catch {
    return '/'
  }
  // Dot segments can leave a second slash in front: `/.//evil` becomes `//evil`.
  const leadsAway = url.origin !== origin || url.pathname.startsWith('//')
  const leadsNowhere = url.pathname === '/login' || url.pathname === '/register'
  return leadsAway || leadsNowhere ? '/' : url.pathname + url.search
}

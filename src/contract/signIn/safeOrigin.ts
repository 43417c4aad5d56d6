/** Browsers and Node.js have `URL`, but this TypeScript project has the types of neither. */
declare const URL: new (path: string, base: string) => { origin: string; pathname: string; search: string }

// eslint-disable-next-line no-control-regex -- matches control characters, which browsers drop from URLs
const unsafeCharacters = /[\\\u0000-\u001f\u007f]/

/** A placeholder for the page's origin, which a replay without a browser does not have. */
const ORIGIN = 'http://console.invalid'

/** Returns the path and query to open after sign-in, or '/' if they could lead off this origin (security 60). */
export function safeOrigin(path: unknown): string {
  if (typeof path !== 'string' || !path.startsWith('/') || unsafeCharacters.test(path)) return '/'
  let url
  try {
    url = new URL(path, ORIGIN)
  } catch {
    return '/'
  }
  // Resolving dot segments can leave two leading slashes: `/.//evil` becomes `//evil`.
  const leadsAway = url.origin !== ORIGIN || url.pathname.startsWith('//')
  const leadsNowhere = url.pathname === '/login' || url.pathname === '/register'
  return leadsAway || leadsNowhere ? '/' : url.pathname + url.search
}

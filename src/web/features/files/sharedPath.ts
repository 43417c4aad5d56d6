/** Where the shared area begins on the wire (product §9), and where it begins in the console's addresses. */
export const ROOT = '/nfsshare'
const PAGE = '/files'

/** `/files/my%20world` is the directory `/nfsshare/my world`. The router's own parameter loses names that hold `%2F`. */
export function pathOfAddress(pathname: string): string {
  const segments = pathname.slice(PAGE.length).split('/').filter(Boolean).map(decoded)
  return [ROOT, ...segments].join('/')
}

/** Names may hold what means something in an address. */
export const addressOfPath = (path: string) =>
  `${PAGE}${path.slice(ROOT.length).split('/').map(encodeURIComponent).join('/')}`

export const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
/** Of the root, the root. */
export const parentOf = (path: string) => (path === ROOT ? ROOT : path.slice(0, path.lastIndexOf('/')))
export const join = (directory: string, name: string) => `${directory}/${name}`

/** From the root down to the directory itself, the root first. */
export function trailOf(path: string): { name: string; path: string }[] {
  const trail = [{ name: 'Root', path: ROOT }]
  let reached = ROOT
  for (const name of path.slice(ROOT.length).split('/').filter(Boolean)) {
    reached = join(reached, name)
    trail.push({ name, path: reached })
  }
  return trail
}

/**
 * Where a destination leads that is given relative to a directory (product §5): repeated slashes are collapsed, `.` and `..`
 * followed. Null when it leads out of the shared area.
 */
export function resolveDestination(directory: string, destination: string): string | null {
  const reached = directory.slice(ROOT.length).split('/').filter(Boolean)
  for (const segment of destination.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') reached.push(segment)
    else if (reached.pop() === undefined) return null
  }
  return [ROOT, ...reached].join('/')
}

function decoded(segment: string) {
  try {
    return decodeURIComponent(segment)
  } catch {
    // Typed by hand; there may still be something of that very name.
    return segment
  }
}

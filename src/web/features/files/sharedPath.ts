import { SHARED_ROOT } from '../../../contract/pageRules'

const PAGE = '/files'

/**
 * Returns the directory for a page address: `/nfsshare/my world` for `/files/my%20world`. Does not use the router's
 * parameter, which loses names that contain `%2F`.
 */
export function pathOfAddress(pathname: string): string {
  const segments = pathname.slice(PAGE.length).split('/').filter(Boolean).map(decoded)
  return [SHARED_ROOT, ...segments].join('/')
}

export const addressOfPath = (path: string) =>
  `${PAGE}${path.slice(SHARED_ROOT.length).split('/').map(encodeURIComponent).join('/')}`

export const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1)
/** The parent of the root is the root. */
export const parentPath = (path: string) => (path === SHARED_ROOT ? SHARED_ROOT : path.slice(0, path.lastIndexOf('/')))
export const joinPath = (directory: string, name: string) => `${directory}/${name}`

/** Returns the breadcrumb from the root down to the directory, both included. */
export function breadcrumbOf(path: string): { name: string; path: string }[] {
  const breadcrumb = [{ name: 'Root', path: SHARED_ROOT }]
  let reached = SHARED_ROOT
  for (const name of path.slice(SHARED_ROOT.length).split('/').filter(Boolean)) {
    reached = joinPath(reached, name)
    breadcrumb.push({ name, path: reached })
  }
  return breadcrumb
}

/**
 * Resolves a destination relative to a directory (product §5): collapses repeated slashes and follows `.` and `..`.
 * Returns null if it leads out of the shared area.
 */
export function resolveDestination(directory: string, destination: string): string | null {
  const reached = directory.slice(SHARED_ROOT.length).split('/').filter(Boolean)
  for (const segment of destination.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') reached.push(segment)
    else if (reached.pop() === undefined) return null
  }
  return [SHARED_ROOT, ...reached].join('/')
}

function decoded(segment: string) {
  try {
    return decodeURIComponent(segment)
  } catch {
    // An address typed by hand may hold a bare `%`, which is also valid in a name.
    return segment
  }
}

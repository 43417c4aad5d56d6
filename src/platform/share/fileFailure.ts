import { SHARED_ROOT } from '../../contract/pageRules'
import { AppError, errorCodeOf } from '../errors'
import { formatPath, printable, type PathSegments } from './apiPath'

/** AppError for EMFILE and ENFILE: no descriptor is left in this process or in the system. */
export function tooManyFiles(): AppError {
  return new AppError('UNAVAILABLE', 'Too many files are open at once. Try again in a moment.')
}

const noSuchPath = (shown: string) => new AppError('NOT_FOUND', `There is no ${shown}.`)

/** The error for a path that does not exist, or that the caller must not know of. */
export function missingPath(segments: PathSegments): AppError {
  return noSuchPath(printable(formatPath(segments)))
}

/** Whether a write failed because a disk is full or a quota is used up. */
export const isDiskFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCodeOf(error) ?? '')

const noResponse = (what: string) => `${what} does not answer. Check its disk or its mount.`
export const NO_RESPONSE = noResponse('The shared area')
/** A disk fails, is damaged or is gone; the server of a network mount, or the program of a FUSE mount, is gone. */
export const DISK_FAILURES: ReadonlySet<string | undefined> = new Set([
  ...['EIO', 'EBADMSG', 'EUCLEAN', 'ENODEV', 'EREMOTEIO', 'ESHUTDOWN'],
  ...['ESTALE', 'ETIMEDOUT', 'ENOTCONN', 'EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH'],
])

/**
 * Translates a failed write to the data directory, not to the shared area.
 * @returns undefined if the reason is another one
 */
export function dataDirectoryFailure(error: unknown): AppError | undefined {
  const code = errorCodeOf(error)
  if (isDiskFull(error)) return new AppError('DISK_FULL', 'The disk of the platform’s data directory is full.')
  if (code === 'EROFS') return new AppError('UNAVAILABLE', 'The platform’s data directory is mounted read-only.')
  if (code === 'EACCES' || code === 'EPERM')
    return new AppError('CONFLICT', 'The platform may not write to its data directory.')
  if (DISK_FAILURES.has(code))
    return new AppError('UNAVAILABLE', `The disk of the platform’s data directory does not answer (${code}).`)
  return undefined
}

/**
 * Translates an error of the file system into one for the client.
 * @param path the affected path, as the API writes it
 * @returns an AppError, or the error itself if its code has no translation
 */
export function fileFailure(error: unknown, path: string): unknown {
  const shown = printable(path)
  switch (errorCodeOf(error)) {
    case 'ENOENT':
      return noSuchPath(shown)
    case 'ENOTDIR':
      return new AppError('CONFLICT', `${shown} is not a directory, or a part of its path is a file.`)
    case 'EISDIR':
      return new AppError('CONFLICT', `${shown} is a directory.`)
    case 'ENOTEMPTY':
      return new AppError(
        'CONFLICT',
        `${shown} got new entries while it was being deleted. Its earlier contents are deleted.`,
      )
    case 'EAGAIN':
      return temporaryFailure(error as NodeJS.ErrnoException, shown)
    case 'EBUSY':
      return new AppError('CONFLICT', `${shown} is in use by the system.`)
    case 'EXDEV':
      return new AppError('CONFLICT', `${shown} is on another file system than the source.`)
    case 'EEXIST':
      return new AppError('NAME_TAKEN', `${shown} exists already.`)
    case 'ELOOP':
      return new AppError('CONFLICT', `${shown} is a link that cannot be followed.`)
    case 'ENAMETOOLONG':
      return new AppError('INVALID_INPUT', 'The path is too long for the file system.')
    case 'EACCES':
    case 'EPERM':
      return new AppError('CONFLICT', `The platform may not do this to ${shown}: its owner or permissions forbid it.`)
    case 'EROFS':
      return new AppError('CONFLICT', 'The shared area is mounted read-only.')
    case 'ENOSPC':
    case 'EDQUOT':
      return new AppError('DISK_FULL', 'The disk of the shared area is full. Nothing was changed.')
    case 'EFBIG':
      return new AppError('TOO_LARGE', `${shown} would be larger than the file system allows.`)
    case 'EMFILE':
    case 'ENFILE':
      return tooManyFiles()
    default:
      if (!DISK_FAILURES.has(errorCodeOf(error))) return error
      // A disk may be mounted within the shared area, and the rest of it answers.
      return new AppError('UNAVAILABLE', path === SHARED_ROOT ? NO_RESPONSE : noResponse(shown))
  }
}

/**
 * Names the entry that could not be read, where that ends the work on a whole tree.
 * @param path for users, relative to that tree
 * @returns throws an AppError, or the error itself if its reason lies elsewhere
 */
export const throwReadFailure =
  (path: string) =>
  (error: unknown): never => {
    const code = errorCodeOf(error)
    const shown = printable(`"${path}"`)
    if (code === 'EACCES' || code === 'EPERM')
      throw new AppError(
        'CONFLICT',
        `The platform may not read ${shown}. Allow its user to, or move it out of the directory.`,
      )
    if (DISK_FAILURES.has(code))
      throw new AppError('UNAVAILABLE', `${shown} does not answer (${code}). Check its disk or its mount.`)
    throw error
  }

/** EAGAIN: a lease (fcntl(2), F_SETLEASE) keeps a file from being opened, or no process can be started. */
function temporaryFailure(error: NodeJS.ErrnoException, shown: string): unknown {
  if (error.syscall === 'open')
    return new AppError('CONFLICT', `${shown} is in use by another program. Try again in a moment.`)
  if (error.syscall?.startsWith('spawn'))
    return new AppError('UNAVAILABLE', 'The system’s limit of processes is reached. Try again in a moment.')
  return error
}

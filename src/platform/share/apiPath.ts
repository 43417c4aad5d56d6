import { FILE_NAME_PATTERN, SHARED_ROOT } from '../../contract/pageRules'
import { AppError } from '../errors'
import { isInternalName } from './internalNames'

/** NAME_MAX of most file systems, in bytes of UTF-8. */
export const MAX_NAME_BYTES = 255

/** A validated path of the API: the names below the shared root, none for the root itself. */
export type PathSegments = readonly string[]

/**
 * Parses a path of the API (decisions §3). Rejects rather than normalises whatever is ambiguous: dot segments, also
 * encoded or behind backslashes, empty segments, NUL.
 * @param field request field of the path, for the error.
 * @throws AppError INVALID_INPUT
 */
export function parsePath(path: string, field = 'path'): PathSegments {
  const invalid = (reason: string) => new AppError('INVALID_INPUT', `${field}: ${reason}`, { field })
  if (path !== SHARED_ROOT && !path.startsWith(`${SHARED_ROOT}/`)) throw invalid(`must begin with ${SHARED_ROOT}`)
  const segments = path.slice(SHARED_ROOT.length + 1).split('/')
  if (segments.at(-1) === '') segments.pop()
  for (const segment of segments) {
    if (segment === '') throw invalid('must not contain empty segments (//)')
    if (segment.includes('\0')) throw invalid('must not contain a NUL character')
    // UTF-8 cannot encode unpaired surrogates: the name on disk would differ.
    if (!segment.isWellFormed()) throw invalid('must be valid Unicode')
    if (decodings(segment).some((text) => text.split(/[/\\]/).some((part) => part === '.' || part === '..')))
      throw invalid('must not contain . or .. segments')
    if (Buffer.byteLength(segment) > MAX_NAME_BYTES)
      throw invalid(`must not contain names of more than ${MAX_NAME_BYTES} bytes`)
    if (isInternalName(segment)) throw invalid('is a file of the platform itself')
  }
  return segments
}

/** Formats a path for the API. */
export function formatPath(segments: PathSegments): string {
  return [SHARED_ROOT, ...segments].join('/')
}

/**
 * Validates the name of a new entry (product §5).
 * @throws AppError INVALID_INPUT
 */
export function checkNewName(name: string, field: string): void {
  if (!FILE_NAME_PATTERN.test(name))
    throw new AppError('INVALID_INPUT', `${field}: "${printable(name)}" contains invalid characters`, { field })
}

/** Splits off the last name. @throws AppError INVALID_INPUT for the root, which has no parent. */
export function parentAndName(segments: PathSegments, field = 'path'): [parent: PathSegments, name: string] {
  const name = segments.at(-1)
  if (name === undefined)
    throw new AppError('INVALID_INPUT', `${field}: the root of the shared area itself cannot be changed`, { field })
  return [segments.slice(0, -1), name]
}

/** Replaces characters that would break a line or change the text direction. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- replaces control characters
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
}

/** The name itself, and after one and two percent decodings: a proxy may have decoded it only partly. */
function decodings(name: string): string[] {
  const all = [name]
  for (let decoded = name; all.length < 3 && decoded.includes('%'); all.push(decoded)) {
    try {
      decoded = decodeURIComponent(decoded)
    } catch {
      break
    }
  }
  return all
}

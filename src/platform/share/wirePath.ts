import { FILE_NAME_PATTERN } from '../../contract/rules'
import { AppError } from '../errors'
import { isOwnName } from './ownNames'
import { SHARED_ROOT } from './paths'

/** Most file systems end here. In bytes of UTF-8. */
const NAME_LIMIT = 255

/** A path of the wire, checked: the names below the shared root, none for the root itself. */
export type Names = readonly string[]

/**
 * Reads a path as the wire writes it (decisions §3). What could mean another place than it seems to (dot segments, also
 * encoded or behind backslashes, empty segments, NUL) is refused rather than normalised.
 * @param field which field of the request it came in, for the failure.
 * @throws AppError INVALID_INPUT
 */
export function namesOf(path: string, field = 'path'): Names {
  const refuse = (reason: string) => new AppError('INVALID_INPUT', `${field}: ${reason}`, { field })
  if (path !== SHARED_ROOT && !path.startsWith(`${SHARED_ROOT}/`)) throw refuse(`must begin with ${SHARED_ROOT}`)
  const names = path.slice(SHARED_ROOT.length + 1).split('/')
  if (names.at(-1) === '') names.pop()
  for (const name of names) {
    if (name === '') throw refuse('must not hold empty segments (//)')
    if (name.includes('\0')) throw refuse('must not hold a NUL character')
    // Written as UTF-8 it would be another name.
    if (!name.isWellFormed()) throw refuse('must not hold half of a character')
    if (decodings(name).some((text) => text.split(/[/\\]/).some((part) => part === '.' || part === '..')))
      throw refuse('must not hold . or .. segments')
    if (Buffer.byteLength(name) > NAME_LIMIT) throw refuse(`must not hold names of more than ${NAME_LIMIT} bytes`)
    if (isOwnName(name)) throw refuse('names an unfinished file of the platform')
  }
  return names
}

/** @returns how the wire writes it. */
export function wirePathOf(names: Names): string {
  return [SHARED_ROOT, ...names].join('/')
}

/**
 * What a new entry may be called (product §5).
 * @throws AppError INVALID_INPUT
 */
export function checkNewName(name: string, field: string): void {
  if (!FILE_NAME_PATTERN.test(name))
    throw new AppError('INVALID_INPUT', `${field}: "${printable(name)}" contains invalid characters`, { field })
}

/** Splits off the last name. @throws AppError INVALID_INPUT for the root, which is not an entry of anything. */
export function parentAndName(names: Names, field = 'path'): [parent: Names, name: string] {
  const name = names.at(-1)
  if (name === undefined)
    throw new AppError('INVALID_INPUT', `${field}: the root of the shared area itself cannot be changed`, { field })
  return [names.slice(0, -1), name]
}

/** Without what would break a line or turn its direction. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are what is replaced
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
}

/** The name and what it is after one and after two percent decodings: a proxy on the way may have stopped half-way. */
function decodings(name: string): string[] {
  const all = [name]
  for (let at = name; all.length < 3 && at.includes('%'); all.push(at)) {
    try {
      at = decodeURIComponent(at)
    } catch {
      break
    }
  }
  return all
}

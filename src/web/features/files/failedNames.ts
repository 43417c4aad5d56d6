import type { ApiFailure } from '../../api/failure'
import { nameOf } from './sharedPath'

/** In dialogs and notifications (product §9). */
export const NAMES_SHOWN = 5

/** Which of several a call could not do, and why, in one line. */
export function failedNames({ failed = [], message }: ApiFailure): string {
  const names = failed.slice(0, NAMES_SHOWN).map(({ path }) => nameOf(path)).join(', ')
  const more = failed.length > NAMES_SHOWN ? ` and ${failed.length - NAMES_SHOWN} more` : ''
  return `${names}${more}${message ? `. ${message}` : ''}`
}

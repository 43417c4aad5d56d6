/** Prefix of the platform's internal files, which are neither listed nor copied nor accessible. */
const INTERNAL_PREFIX = '.quarterdeck-'

/** Ignores the suffix, so that files of other versions of the platform match too. */
export function isInternalName(name: string): boolean {
  return name.startsWith(INTERNAL_PREFIX)
}

/** @param id unique per unfinished file or directory */
export function internalName(id: string): string {
  return `${INTERNAL_PREFIX}${id}.part`
}

/**
 * In the copy of a Pod with `keep`: was created when the copy was complete, like the mark of `runtime/copyMarker.ts`.
 */
export const COPY_MARKER = `${INTERNAL_PREFIX}copied`

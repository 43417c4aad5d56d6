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

/** The file in the copy of a Pod with `keep` that says that the copy is complete, as `runtime/copyMarker.ts` does. */
export const COPY_MARKER = `${INTERNAL_PREFIX}copied`

import { randomUUID } from 'node:crypto'

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

const COPY_PREFIX = `${INTERNAL_PREFIX}copy-`
const OWN_COPY_PREFIX = `${COPY_PREFIX}${randomUUID()}-`

/** As `internalName`, for a copy of a file that has no record: a later process recognises it by its name. */
export function internalCopyName(): string {
  return `${OWN_COPY_PREFIX}${randomUUID()}.part`
}

/** Whether an unfinished copy is that of another process, which was killed. */
export function isLeftCopy(name: string): boolean {
  return name.startsWith(COPY_PREFIX) && !name.startsWith(OWN_COPY_PREFIX)
}

/** The file in the copy of a Pod with `keep` that says that the copy is complete, as `runtime/copyMarker.ts` does. */
export const COPY_MARKER = `${INTERNAL_PREFIX}copied`

/** Names that begin so are the platform's own unfinished files: not listed, not copied, not to be had. */
const OWN_PREFIX = '.quarterdeck-'

/** Whatever its end: also of what another version of the platform left. */
export function isOwnName(name: string): boolean {
  return name.startsWith(OWN_PREFIX)
}

/** @param id of one unfinished file or directory; not used twice. */
export function ownName(id: string): string {
  return `${OWN_PREFIX}${id}.part`
}

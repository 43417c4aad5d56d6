import { createHash, randomBytes } from 'node:crypto'

/** PostgreSQL and MongoDB both take names of at most 63 bytes; the product's rule allows 64. */
const MAX_BYTES = 63

/** What the server calls a database: its name, case kept, or, where that is too long, one derived from it, always the same. */
export function physicalNameOf(name: string): string {
  return name.length <= MAX_BYTES ? name : derived('', name)
}

/** The login role or user of a database: called like it, except where PostgreSQL reserves the name for its own roles. */
export function usernameOf(name: string): string {
  return /^pg_|^(?:public|none)$/.test(name) ? derived('db_', name) : physicalNameOf(name)
}

/** 24 random characters of the URL-safe base64 alphabet: 144 bits. */
export function randomPassword(): string {
  return randomBytes(18).toString('base64url')
}

function derived(prefix: string, name: string): string {
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 12)
  return `${prefix}${name.slice(0, MAX_BYTES - prefix.length - mark.length - 1)}_${mark}`
}

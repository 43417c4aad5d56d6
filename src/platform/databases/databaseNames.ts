import { createHash, randomBytes } from 'node:crypto'

/** The limit of PostgreSQL and MongoDB for names; the product allows 64. */
const MAX_BYTES = 63

/** The name on the server: the same name or, if that is too long, one derived from it with a hash. */
export function physicalNameOf(name: string): string {
  return name.length <= MAX_BYTES ? name : derived('', name)
}

/** The name of the login role or user, derived if PostgreSQL reserves the database's name. */
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

import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCodeOf, StartError } from '../errors'
import type { Db } from './db'
import { claimFact } from './claimedFacts'

const KEY_FILE = 'secret.key'

export interface Secrets {
  /** Derives a 32-byte key for one purpose (HKDF-SHA-256, RFC 5869). */
  keyFor(purpose: string): Buffer
  /** Encrypts a text (AES-256-GCM), bound to its purpose and owner: rows cannot swap sealed values. */
  seal(text: string, purpose: string, owner: string): string
  /** @throws Error if the text was not sealed with this key for this purpose and owner */
  unseal(sealed: string, purpose: string, owner: string): string
}

/**
 * Reads the key file of the data directory, or creates it (mode 600) for a new database. All replicas need the same
 * file, so a replica never creates one.
 * @throws StartError if the file is missing or is not the one that the database was written with
 */
export async function openSecrets(dataDir: string, db: Db, isReplica = false): Promise<Secrets> {
  const file = join(dataDir, KEY_FILE)
  const known = await db.selectFrom('facts').select('value').where('name', '=', 'key').executeTakeFirst()
  const text = (await readKey(file)) ?? (known || isReplica ? undefined : await makeKey(file))
  if (text === undefined && isReplica)
    throw new StartError([
      `The key file ${file} is missing: every replica needs the same one. Create it once (openssl rand -hex 32), keep it in a Secret and mount it there`,
    ])
  if (text === undefined)
    throw new StartError([
      `The key file ${file} is missing: restore it from a backup. Without it the stored passwords and sessions cannot be read`,
    ])
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new StartError([
      `The key file ${file} is damaged: it must hold 64 hexadecimal digits. Restore it from a backup`,
    ])
  const secrets = secretsOf(Buffer.from(text, 'hex'))
  const fingerprint = createHmac('sha256', secrets.keyFor('mark')).update('quarterdeck').digest('hex')
  await claimFact(db, 'key', fingerprint)
  const { value } = await db.selectFrom('facts').select('value').where('name', '=', 'key').executeTakeFirstOrThrow()
  if (value !== fingerprint)
    throw new StartError([
      `The key file ${file} is not the one that this state was written with: restore that one from a backup`,
    ])
  return secrets
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    throw new StartError([`The key file ${file} cannot be read (${errorCodeOf(error)})`])
  }
}

/** A link, not a rename: of two platforms that start at once, one creates the key and both use it. */
async function makeKey(file: string): Promise<string | undefined> {
  const temporary = `${file}.${process.pid}`
  // Flushed, because the database relies on the key from then on.
  await writeFile(temporary, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  await link(temporary, file).catch((error: unknown) => {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  })
  await rm(temporary)
  return readKey(file)
}

function secretsOf(master: Buffer): Secrets {
  const keyFor = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', master, '', `quarterdeck ${purpose}`, 32))
  return {
    keyFor,
    seal(text, purpose, owner) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), nonce).setAAD(Buffer.from(owner))
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64')
    },
    unseal(sealed, purpose, owner) {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), bytes.subarray(0, 12), { authTagLength: 16 })
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(-16))
      return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8')
    },
  }
}

/** Returns a bearer secret of 256 random bits in base64url. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Whether a text has the form of a token. */
export const isToken = (text: string) => /^[\w-]{43}$/.test(text)

/** Hashes a token for storage, so that reading the database does not reveal it. Random tokens need no salt. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

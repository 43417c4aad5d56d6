import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'

const ITERATIONS = 4096

/**
 * The verifier that PostgreSQL stores for a password (SCRAM-SHA-256, RFC 5803, RFC 7677). Sent instead of the password,
 * so that the server's log never contains it.
 * @param password ASCII characters only, which SASLprep does not change
 */
export async function scramVerifier(password: string): Promise<string> {
  const salt = randomBytes(16)
  const salted = await promisify(pbkdf2)(password, salt, ITERATIONS, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`
}

import { generateSecret, generateURI, verify } from 'otplib'
import { toBuffer } from 'qrcode'

const PERIOD_SECONDS = 30
/** Filters of rows and another type of colours would take most of the time of a PNG and save little. */
const PNG_OPTIONS = { filterType: 0, deflateStrategy: 0, deflateLevel: 6 }

/** Generates a TOTP secret: 160 random bits in base32 (RFC 4226 §4). */
export function newTotpSecret(): string {
  return generateSecret()
}

/** A PNG data URL of the key URI that authenticator apps scan. */
export async function qrCodeOf(secret: string, username: string): Promise<string> {
  const uri = generateURI({ issuer: 'Quarterdeck', label: username, secret })
  const png = await toBuffer(uri, { margin: 1, width: 240, rendererOpts: PNG_OPTIONS })
  return `data:image/png;base64,${png.toString('base64')}`
}

/**
 * Verifies a code: SHA-1, 6 digits, 30 s, one step either side (RFC 6238).
 * @param now milliseconds since the epoch
 * @returns the code's time step, for replay protection; undefined if the code is wrong
 */
export async function stepOfCode(secret: string, code: string, now: number): Promise<number | undefined> {
  if (!/^\d{6}$/.test(code)) return undefined
  const epoch = Math.floor(now / 1000)
  const result = await verify({ secret, token: code, epoch, epochTolerance: PERIOD_SECONDS })
  return result.valid ? Math.floor(epoch / PERIOD_SECONDS) + result.delta : undefined
}

import { generate } from 'otplib'

/** Sends a call below `/api/auth/`. @returns the data of the response */
type Post = (path: string, body: object) => Promise<Record<string, unknown>>

/** Registers an account by calls. @returns the token of its session, and its TOTP secret */
export async function registerAccount(
  post: Post,
  inviteCode: unknown,
  account: { username: string; password: string },
): Promise<{ token: string; secret: string }> {
  const { token: inviteToken } = await post('verify-invite', { inviteCode })
  const secret = String((await post('register', { ...account, inviteToken })).secret)
  const { username } = account
  const { loginToken } = await post('verify-registration', { username, token: await codeOf(secret), inviteToken })
  return { token: String(loginToken), secret }
}

/** The code that an authenticator app shows this number of 30-second steps from now. */
export function codeOf(secret: string, steps = 0): Promise<string> {
  return generate({ secret, epoch: Math.floor(Date.now() / 1000) + 30 * steps })
}

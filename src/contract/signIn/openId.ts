import { z } from 'zod'
import { success } from '../envelope'
import type { OPEN_ID_FAILURES } from '../pageRoutes'

/**
 * Why signing in by OpenID Connect, or connecting an account, failed: `/login?sso=<reason>`, `/security?sso=<reason>`.
 */
export type OpenIdFailure = (typeof OPEN_ID_FAILURES)[number]

/** The query of a sign-in that a browser begins. */
export const BeginOpenId = z.looseObject({
  to: z.unknown().optional().describe('The path and query of the console to open afterwards. Default: its first page.'),
})

/** How the caller’s account is connected to the OpenID Connect provider. Our extra. */
export const OpenIdConnectionResponse = success(
  z.object({
    name: z.string().optional().describe('The name of the provider. Missing: none is configured.'),
    connected: z.boolean(),
    own: z.boolean().describe('Whether the account was made by the provider: it has no password and stays connected.'),
  }),
)
export type OpenIdConnectionResponse = z.infer<typeof OpenIdConnectionResponse>

export const ConnectOpenIdResponse = success(
  z.object({ url: z.string().describe('The page of the provider to open. Valid for ten minutes, in this browser.') }),
)
export type ConnectOpenIdResponse = z.infer<typeof ConnectOpenIdResponse>

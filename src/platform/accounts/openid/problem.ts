import type { OpenIdFailure } from '../../../contract/signIn/openId'

/** An expected failure of a sign-in by OpenID Connect. The console has a sentence for its reason. */
export class OpenIdProblem extends Error {
  /** Whether a user wanted to connect their account, rather than to sign in. */
  isConnection = false

  constructor(
    readonly reason: OpenIdFailure,
    /** Details for the log. They may be the provider's words. */
    details?: string,
  ) {
    super(details ?? reason)
  }
}

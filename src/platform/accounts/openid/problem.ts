import type { OpenIdFailure } from '../../../contract/signIn/openId'

/** An expected failure of a sign-in by OpenID Connect. The console has a sentence for its reason. */
export class OpenIdProblem extends Error {
  /** Whether the user wanted to connect their account rather than sign in. */
  isConnection = false

  constructor(
    readonly reason: OpenIdFailure,
    /** Details for the log. May quote the provider. */
    details?: string,
  ) {
    super(details ?? reason)
  }
}

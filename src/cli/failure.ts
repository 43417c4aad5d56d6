/** Exit codes, documented in README.md. They must not change. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notSignedIn: 3,
  notAllowed: 4,
  notFound: 5,
  unreachable: 6,
  /** `apply --dry-run` found differences. */
  wouldChange: 7,
  interrupted: 130,
} as const

/** An expected failure. Its message is shown to the user and says what to do. */
export class CliError extends Error {
  /** @param code the API's error code, if the server refused a call */
  constructor(
    readonly exitCode: number,
    message: string,
    readonly code?: string,
  ) {
    super(message)
    this.name = 'CliError'
  }
}

/** The exit code for a refusal of the server with this HTTP status. */
export function exitCodeOf(status: number): number {
  if (status === 401) return EXIT.notSignedIn
  if (status === 403) return EXIT.notAllowed
  return status === 404 ? EXIT.notFound : EXIT.failed
}

/** What the user can do after a refusal with this HTTP status. */
export function adviceOf(status: number): string {
  if (status === 401) return ' Sign in again: quarterdeck login'
  return status === 403 ? ' Use a key that has the scope, of a user who has the right.' : ''
}

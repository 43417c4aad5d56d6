import type { Session } from '../facts'

/**
 * Returns what tells the users of a browser apart, whose texts it keeps, or undefined if the session does not tell. The
 * id alone is not unique: another installation at the same address also counts its users from 1.
 */
export const userOf = (session: Session | null) =>
  session && (session.subject ?? session.username) !== undefined
    ? JSON.stringify([session.subject, session.username])
    : undefined

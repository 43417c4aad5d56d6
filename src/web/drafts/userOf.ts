import type { Session } from '../facts'

/**
 * Returns a key of the user for texts that the browser keeps, or undefined if the session names no user. The id alone
 * is not unique: another installation at the same address also counts its users from 1.
 */
export const userOf = (session: Session | null) =>
  session && (session.subject ?? session.username) !== undefined
    ? JSON.stringify([session.subject, session.username])
    : undefined

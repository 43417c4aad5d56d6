import type { User } from '../../../contract/admin'
import { useAppSelector } from '../../app/hooks'

/**
 * Returns the id of the signed-in user. The subject of our platform's tokens is the id; another server's may be the
 * username. Returns undefined if neither matches: then only the server prevents users from demoting or deleting
 * themselves.
 */
export function useOwnId(users: User[] | undefined): number | undefined {
  const subject = useAppSelector((state) => state.session.current?.subject)
  const own = users?.find(({ id }) => String(id) === subject) ?? users?.find(({ username }) => username === subject)
  return own?.id
}

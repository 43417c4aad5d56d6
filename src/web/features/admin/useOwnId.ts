import { useSelector } from 'react-redux'
import type { User } from '../../../contract/admin'
import type { RootState } from '../../app/types'

/**
 * Which of the users this one is. Our platform's tokens name the id; another server's may name the username.
 * Undefined where neither fits: then the server's own refusal has to do.
 */
export function useOwnId(users: User[] | undefined): number | undefined {
  const subject = useSelector((state: RootState) => state.session.current?.subject)
  const own = users?.find(({ id }) => String(id) === subject) ?? users?.find(({ username }) => username === subject)
  return own?.id
}

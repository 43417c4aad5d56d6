import { useDispatch } from 'react-redux'
import { notified } from '../../facts'

/** Notifies of how a call ended, wherever in the console the user is by then. */
export function useReport() {
  const dispatch = useDispatch()
  return ({ error }: { error?: unknown }, success: string, failure: string) => {
    if (!error) dispatch(notified('success', success))
    // Without a session the login page says what happened.
    else if ((error as { status?: unknown }).status !== 401) dispatch(notified('danger', failure))
  }
}

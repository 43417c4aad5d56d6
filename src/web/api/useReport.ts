import { useDispatch, useStore } from 'react-redux'
import type { RootState } from '../app/types'
import { notified } from '../facts'

/** Notifies of how a call ended, wherever in the console the user is by then. */
export function useReport() {
  const dispatch = useDispatch()
  const store = useStore<RootState>()
  return ({ error }: { error?: unknown }, success: string, failure: string) => {
    if (!error) dispatch(notified('success', success))
    // Without a session the login page says what happened.
    else if (store.getState().session.current) dispatch(notified('danger', failure))
  }
}

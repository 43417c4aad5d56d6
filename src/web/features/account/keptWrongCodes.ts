import { isAnyOf } from '@reduxjs/toolkit'
import type { WrongCodes } from '../../../contract/signIn/auth'
import { addAppListeners } from '../../app/appListeners'
import type { AppThunk } from '../../app/types'
import { sessionEnded } from '../../facts'
import { wrongCodesDismissed, wrongCodesReported } from './accountSlice'

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const KEY = 'wrongCodes'

/** Stores the warning together with its session, because it must not appear in the next one. */
const keepWrongCodes = (storage: Store, session: string, { count, since }: WrongCodes) =>
  storage.setItem(KEY, JSON.stringify({ session, count, since }))

/** @returns undefined if nothing valid is stored for this session. Another server's answer may hold anything. */
function readWrongCodes(storage: Store, session: string): WrongCodes | undefined {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? '{}') as Partial<
      Record<'session' | 'count' | 'since', unknown>
    > | null
    if (
      kept?.session !== session ||
      !Number.isInteger(kept.count) ||
      !Number.isFinite(new Date(kept.since as number).getTime())
    )
      return undefined
    return { count: kept.count as number, since: kept.since as number }
  } catch {
    return undefined
  }
}

/** Shows the wrong codes of this session until the user dismisses them, even after a reload. */
export const showWrongCodes =
  (): AppThunk =>
  (dispatch, getState, { storage }) => {
    const session = getState().session.current
    if (!session) return
    if (session.wrongCodes) keepWrongCodes(storage, session.id, session.wrongCodes)
    const wrongCodes = readWrongCodes(storage, session.id)
    if (wrongCodes) dispatch(wrongCodesReported(wrongCodes))
  }

addAppListeners((startListening) => {
  startListening({
    matcher: isAnyOf(wrongCodesDismissed, sessionEnded),
    effect: (_action, { extra: { storage } }) => storage.removeItem(KEY),
  })
})

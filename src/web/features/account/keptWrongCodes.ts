import { isAnyOf } from '@reduxjs/toolkit'
import { WRONG_CODES_COOKIE } from '../../../contract/pageRules'
import type { WrongCodes } from '../../../contract/signIn/auth'
import { addAppListeners } from '../../app/appListeners'
import type { Services } from '../../app/services'
import type { AppThunk } from '../../app/types'
import { basePath } from '../../basePath'
import { sessionEnded } from '../../facts'
import { wrongCodesDismissed, wrongCodesReported } from './accountSlice'

type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

const KEY = 'wrongCodes'

/** Stores the warning together with its session, because it must not appear in the next one. */
const keepWrongCodes = (storage: KeyValueStorage, session: string, { count, since }: WrongCodes) =>
  storage.setItem(KEY, JSON.stringify({ session, count, since }))

/**
 * @returns undefined if nothing valid is stored for this session. Validated, because another server's response may
 * contain anything.
 */
function readWrongCodes(storage: KeyValueStorage, session: string): WrongCodes | undefined {
  const kept = parseObject(storage.getItem(KEY))
  if (
    kept.session !== session ||
    !Number.isInteger(kept.count) ||
    !Number.isFinite(new Date(kept.since as number).getTime())
  )
    return undefined
  return { count: kept.count as number, since: kept.since as number }
}

/** Removes and returns the cookie of a sign-in by OpenID Connect. `readWrongCodes` validates its content. */
function takeCookie({ cookies }: Services): WrongCodes | undefined {
  const text = cookies.get(WRONG_CODES_COOKIE)
  if (text === undefined) return undefined
  cookies.remove(WRONG_CODES_COOKIE, { path: basePath() || '/' })
  return parseObject(text) as WrongCodes
}

/** Parses JSON. Anything but an object counts as an empty one. */
function parseObject(text: string | null): Partial<Record<'session' | 'count' | 'since', unknown>> {
  try {
    return Object(JSON.parse(text ?? '{}')) as object
  } catch {
    return {}
  }
}

/** Shows the wrong codes of this session until the user dismisses them, even after a reload. */
export const showWrongCodes = (): AppThunk => (dispatch, getState, services) => {
  const session = getState().session.current
  if (!session) return
  const { storage } = services
  const reported = session.wrongCodes ?? takeCookie(services)
  if (reported) keepWrongCodes(storage, session.id, reported)
  const wrongCodes = readWrongCodes(storage, session.id)
  if (wrongCodes) dispatch(wrongCodesReported(wrongCodes))
}

addAppListeners((startListening) => {
  startListening({
    matcher: isAnyOf(wrongCodesDismissed, sessionEnded),
    effect(_action, { extra: { storage }, getOriginalState }) {
      // All tabs share the storage: another one may have stored those of the session that followed.
      const session = getOriginalState().session.current
      if (session && readWrongCodes(storage, session.id)) storage.removeItem(KEY)
    },
  })
})

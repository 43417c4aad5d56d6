import { accountApi } from '../../api/account'
import { addAppListeners } from '../../app/appListeners'
import { sessionEnded } from '../../facts'
import { previousSignInReported } from './accountSlice'

const KEY = 'previousSignInShown'

/** Shows each session's previous sign-in once. It is not shown again after a reload; the list of sessions has it. */
addAppListeners((startListening) => {
  startListening({
    matcher: accountApi.endpoints.getAccount.matchFulfilled,
    effect({ payload: { previous_sign_in: previous } }, store) {
      const { storage } = store.extra
      const session = store.getState().session.current
      if (!session || !previous || storage.getItem(KEY) === session.id) return
      storage.setItem(KEY, session.id)
      store.dispatch(previousSignInReported(previous))
    },
  })
  startListening({
    actionCreator: sessionEnded,
    effect(_action, { extra: { storage }, getOriginalState }) {
      // All tabs share the storage: another one may have shown that of the session that followed.
      if (storage.getItem(KEY) === getOriginalState().session.current?.id) storage.removeItem(KEY)
    },
  })
})

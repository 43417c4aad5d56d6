import type { PayloadAction } from '@reduxjs/toolkit'
import { isAnyOf } from '@reduxjs/toolkit'
import type { WrongCodes } from '../../../contract/signIn/auth'
import { readSession } from '../../api/signIn/credentials'
import { otherSignInsApi } from '../../api/signIn/otherSignIns'
import { addAppListeners } from '../../app/appListeners'
import { sessionStarted } from '../../facts'
import { loginRestarted, usernameTyped } from './loginSlice'

export { RecoveryCodeForm } from './RecoveryCodeForm'

const { signInWithPasskey: passkeySignIn, verifyRecoveryCode } = otherSignInsApi.endpoints

/** @param use whether the passkey follows a password */
export const signInWithPasskey = (use: 'alone' | 'step') => passkeySignIn.initiate(use)

addAppListeners((startListening) => {
  startListening({
    matcher: isAnyOf(passkeySignIn.matchFulfilled, verifyRecoveryCode.matchFulfilled),
    effect(action, { dispatch, extra }) {
      const session = readSession(extra)
      if (!session) return
      const { payload: wrongCodes } = action as PayloadAction<WrongCodes | null>
      dispatch(sessionStarted({ ...session, wrongCodes }))
      dispatch(usernameTyped(''))
      dispatch(loginRestarted())
    },
  })
})

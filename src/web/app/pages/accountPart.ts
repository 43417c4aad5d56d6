import { addListener, isAnyOf } from '@reduxjs/toolkit'
import type { Session } from '../../facts'
import { sessionEnded, sessionStarted } from '../../facts'
import { accountSlice, wrongCodesDismissed, wrongCodesReported } from '../../features/account/accountSlice'
import { forgetWrongCodes, keepWrongCodes, readWrongCodes } from '../../features/account/keptWrongCodes'
import type { Part } from './part'
import type { AppDispatch, AppStore, RootState, Services } from '../types'

const listening = addListener.withTypes<RootState, AppDispatch, Services>()

/** State of the user menu, its dialogs and the warning about wrong codes. */
export const accountPart: Part<'account'> = { reducers: { account: accountSlice.reducer }, begin: warnOfWrongCodes }

/** The warning about wrong codes stays until the user dismisses it, even after a reload. */
function warnOfWrongCodes({ dispatch }: Pick<AppStore, 'dispatch'>) {
  const warn =
    (session: Session) =>
    (dispatch: AppDispatch, _getState: () => RootState, { storage }: Services) => {
      if (session.wrongCodes) keepWrongCodes(storage, session.id, session.wrongCodes)
      const wrongCodes = readWrongCodes(storage, session.id)
      if (wrongCodes) dispatch(wrongCodesReported(wrongCodes))
    }
  dispatch(listening({ actionCreator: sessionStarted, effect: ({ payload }, { dispatch }) => dispatch(warn(payload)) }))
  dispatch(
    listening({
      matcher: isAnyOf(wrongCodesDismissed, sessionEnded),
      effect: (_action, { extra: { storage } }) => forgetWrongCodes(storage),
    }),
  )
  dispatch((dispatch: AppDispatch, getState: () => RootState) => {
    const { current } = getState().session
    if (current) dispatch(warn(current))
  })
}

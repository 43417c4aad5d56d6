import type { Dispatch, ThunkDispatch, UnknownAction } from '@reduxjs/toolkit'
import type { rootReducer } from './rootReducer'
import type { Services } from './services'

export type RootState = ReturnType<typeof rootReducer>
// Not derived from the store's type: parts of the store need these types and would import the store.
export type AppDispatch = ThunkDispatch<RootState, Services, UnknownAction> & Dispatch
export type AppThunk<Result = void> = (dispatch: AppDispatch, getState: () => RootState, services: Services) => Result

import type { Services } from './services'
import type { AppDispatch, AppThunk } from './types'

const getServices = (): AppThunk<Services> => (_dispatch, _getState, services) => services

/**
 * Returns the services of a store, for code that has only `dispatch`. For a replay's store, which runs no thunks, an
 * object without services.
 */
export const servicesOf = (dispatch: AppDispatch) => dispatch(getServices())

import type { Services } from './services'
import type { AppDispatch, AppThunk } from './types'

const getServices = (): AppThunk<Services> => (_dispatch, _getState, services) => services

/**
 * The services of a store, where it alone is at hand. Of a replay's store, which runs no thunks, an object without any.
 */
export const servicesOf = (dispatch: AppDispatch) => dispatch(getServices())

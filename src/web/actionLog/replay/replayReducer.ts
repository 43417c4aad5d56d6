import { combineReducers } from '@reduxjs/toolkit'
import { lateReducers } from '../../app/pages/parts'
import { reducers } from '../../app/reducers'
// The api reducer needs the definitions of all endpoints.
import '../../api/endpoints'
import type { RootReducer } from './steps'

/** The reducer of the console with the slices of all pages. */
export const replayReducer = combineReducers({ ...reducers, ...lateReducers }) as unknown as RootReducer

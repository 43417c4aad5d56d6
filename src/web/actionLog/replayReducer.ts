import { combineReducers } from '@reduxjs/toolkit'
import { lateReducers } from '../app/pages/parts'
import { reducers } from '../app/reducers'
// Reducers look up what the endpoints say about merging and tags.
import '../api/endpoints'
import type { RootReducer } from './steps'

/** Of the whole console, whatever page came when. */
export const replayReducer = combineReducers({ ...reducers, ...lateReducers }) as unknown as RootReducer

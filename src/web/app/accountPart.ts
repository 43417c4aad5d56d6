import { accountSlice } from '../features/account/accountSlice'
import type { Part } from './part'

/** What the header of every page needs, once somebody has signed in. */
export const accountPart: Part<'account'> = { reducers: { account: accountSlice.reducer } }

import { registrationSlice } from '../../features/auth/registrationSlice'
import type { Part } from './part'

export const registrationPart: Part<'registration'> = { reducers: { registration: registrationSlice.reducer } }

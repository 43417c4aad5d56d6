import { overviewSlice } from '../../features/overview/overviewSlice'
import type { Part } from './part'

export const overviewPart: Part<'overview'> = { reducers: { overview: overviewSlice.reducer } }

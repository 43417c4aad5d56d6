import { databasesSlice } from '../../features/databases/databasesSlice'
import type { Part } from './part'

export const databasesPart: Part<'databases'> = { reducers: { databases: databasesSlice.reducer } }

import { databasesSlice } from '../features/databases/databasesSlice'
import type { Part } from './part'

/** What only the databases page needs. */
export const databasesPart: Part<'databases'> = { reducers: { databases: databasesSlice.reducer } }

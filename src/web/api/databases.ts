import type { Credentials, Database, DatabaseType } from '../../contract/database'
import type { AppDispatch } from '../app/types'
import { api } from './api'
import { listIn, reading } from './reading'

/** A server may leave out what the contract names, and send more than that (product §3). */
export type ShownCredentials = { [Name in keyof Credentials]?: Credentials[Name] } & Record<string, unknown>
/** Undefined is what the server did not say. */
export type ListedDatabase = {
  name: string
  size: number | undefined
  tables: number | undefined
  credentials: ShownCredentials
}

type Named = { type: DatabaseType; name: string }
type Change = (databases: ListedDatabase[]) => ListedDatabase[]

/** Making one takes a second or two, and deleting one ends its connections first; a busy server may take its time. In milliseconds. */
const WORK_TIMEOUT_MS = 120_000

const urlOf = ({ type, name }: Named) => `database/${type}/${encodeURIComponent(name)}`

export const databasesApi = api.enhanceEndpoints({ addTagTypes: ['Database'] }).injectEndpoints({
  endpoints: (build) => ({
    getDatabases: build.query<ListedDatabase[], DatabaseType>({
      queryFn: reading(
        (type) => `database/${type}`,
        ({ databases }: { databases?: Record<string, unknown>[] }) => listIn(databases)?.flatMap(listed),
      ),
      providesTags: (_result, _error, type) => [{ type: 'Database', id: type }],
    }),

    createDatabase: build.mutation<ListedDatabase[], Named>({
      query: ({ type, name }) => ({
        url: `database/${type}`,
        method: 'POST',
        body: { name },
        timeoutMs: WORK_TIMEOUT_MS,
      }),
      transformResponse: answered,
      onQueryStarted: ({ type }, { dispatch, queryFulfilled }) =>
        follow(type, dispatch, queryFulfilled, (made) => (databases) => [...without(databases, made), ...made]),
    }),

    resetDatabasePassword: build.mutation<ListedDatabase[], Named>({
      query: (named) => ({ url: urlOf(named), method: 'PATCH', timeoutMs: WORK_TIMEOUT_MS }),
      transformResponse: answered,
      onQueryStarted: ({ type, name }, { dispatch, queryFulfilled }) =>
        follow(
          type,
          dispatch,
          queryFulfilled,
          ([reset]) =>
            (databases) =>
              databases.map((database) =>
                database.name === name
                  ? { ...database, credentials: reset?.credentials ?? withoutPassword(database.credentials) }
                  : database,
              ),
        ),
    }),

    deleteDatabase: build.mutation<null, Named>({
      query: (named) => ({ url: urlOf(named), method: 'DELETE', timeoutMs: WORK_TIMEOUT_MS }),
      transformResponse: () => null,
      onQueryStarted: ({ type, name }, { dispatch, queryFulfilled }) =>
        follow(type, dispatch, queryFulfilled, () => (databases) => without(databases, [{ name }])),
    }),
  }),
})

export const {
  useGetDatabasesQuery,
  useCreateDatabaseMutation,
  useResetDatabasePasswordMutation,
  useDeleteDatabaseMutation,
} = databasesApi

/**
 * What a call changed is in the list at once, and then the list is fetched anew. A list that was asked for before may
 * still be on its way, and tells of the time before: a password that is no longer the one.
 */
async function follow<Result>(
  type: DatabaseType,
  dispatch: AppDispatch,
  fulfilled: Promise<{ data: Result }>,
  changeOf: (result: Result) => Change,
) {
  try {
    const change = changeOf((await fulfilled).data)
    const apply = () => dispatch(databasesApi.util.updateQueryData('getDatabases', type, change))
    apply()
    const outdated = dispatch(databasesApi.util.getRunningQueryThunk('getDatabases', type))
    if (outdated) {
      await outdated
      apply()
    }
  } catch {
    // The mutation's own state tells of its failure. Whether the server had begun, the list will tell.
  }
  dispatch(databasesApi.util.invalidateTags([{ type: 'Database', id: type }]))
}

const without = (databases: ListedDatabase[], gone: { name: string }[]) =>
  databases.filter((database) => !gone.some(({ name }) => name === database.name))

/** What still holds after a reset whose answer does not say the new password. */
const withoutPassword = (credentials: ShownCredentials) => ({
  ...credentials,
  password: undefined,
  connectionString: undefined,
})

/** The database of an answer, if it is more than a name. */
function answered({ data }: { data?: unknown }): ListedDatabase[] {
  return isObject(data) && isObject(data.credentials) ? listed(data) : []
}

function listed(database: Partial<Database> | Record<string, unknown> | null): ListedDatabase[] {
  if (!isObject(database) || typeof database.name !== 'string') return []
  const { name, size, tables, credentials } = database
  return [
    { name, size: numberOf(size), tables: numberOf(tables), credentials: isObject(credentials) ? credentials : {} },
  ]
}

/** Some drivers tell large numbers as text. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

import type { Credentials, Database, DatabaseType } from '../../contract/database'
import type { AppDispatch } from '../app/types'
import { api } from './api'
import { dataSchema, listIn } from './transport/dataSchema'

/** A server may omit fields of the contract and send others (product §3). */
export type ShownCredentials = { [Name in keyof Credentials]?: Credentials[Name] } & Record<string, unknown>
/** Undefined fields were not sent by the server. */
export type ListedDatabase = {
  name: string
  size: number | undefined
  tables: number | undefined
  credentials: ShownCredentials
}

type Named = { type: DatabaseType; name: string }
type Change = (databases: ListedDatabase[]) => ListedDatabase[]

/** Creating takes a second or two and deleting ends connections first; a busy server may take much longer. */
const WORK_TIMEOUT_MS = 120_000

const urlOf = ({ type, name }: Named) => `database/${type}/${encodeURIComponent(name)}`

export const databasesApi = api.enhanceEndpoints({ addTagTypes: ['Database'] }).injectEndpoints({
  endpoints: (build) => ({
    getDatabases: build.query<ListedDatabase[], DatabaseType>({
      query: (type) => `database/${type}`,
      responseSchema: dataSchema(({ databases }: { databases?: Record<string, unknown>[] }) =>
        listIn(databases)?.flatMap(listedDatabase),
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
      transformResponse: databaseOfResponse,
      onQueryStarted: ({ type }, { dispatch, queryFulfilled }) =>
        applyAndRefetch(type, dispatch, queryFulfilled, (made) => (databases) => [
          ...without(databases, made),
          ...made,
        ]),
    }),

    resetDatabasePassword: build.mutation<ListedDatabase[], Named>({
      query: (named) => ({ url: urlOf(named), method: 'PATCH', timeoutMs: WORK_TIMEOUT_MS }),
      transformResponse: databaseOfResponse,
      onQueryStarted: ({ type, name }, { dispatch, queryFulfilled }) =>
        applyAndRefetch(
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
        applyAndRefetch(type, dispatch, queryFulfilled, () => (databases) => without(databases, [{ name }])),
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
 * Applies a change to the cached list, then refetches it. The response to a query that was already in flight may still
 * contain the old password, so the change is applied again.
 */
async function applyAndRefetch<Result>(
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
    // The mutation's state holds the failure. The refetch shows whether the server had begun.
  }
  dispatch(databasesApi.util.invalidateTags([{ type: 'Database', id: type }]))
}

const without = (databases: ListedDatabase[], gone: { name: string }[]) =>
  databases.filter((database) => !gone.some(({ name }) => name === database.name))

/** Drops the fields that a reset makes invalid, for a response without the new password. */
const withoutPassword = (credentials: ShownCredentials) => ({
  ...credentials,
  password: undefined,
  connectionString: undefined,
})

/** Returns the database of a response as a list, which is empty if the server sent no credentials. */
function databaseOfResponse({ data }: { data?: unknown }): ListedDatabase[] {
  return isObject(data) && isObject(data.credentials) ? listedDatabase(data) : []
}

/** Checks an entry of a response. Returns it as a list, which is empty if the entry has no name. */
function listedDatabase(database: Partial<Database> | Record<string, unknown> | null): ListedDatabase[] {
  if (!isObject(database) || typeof database.name !== 'string') return []
  const { name, size, tables, credentials } = database
  return [
    { name, size: numberOf(size), tables: numberOf(tables), credentials: isObject(credentials) ? credentials : {} },
  ]
}

/** Some drivers send large numbers as strings. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

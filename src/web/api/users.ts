import type { ApiKey, ApiKeysResponse, UserAccess, UserAccessResponse } from '../../contract/access'
import type { OwnSession, OwnSessionsResponse } from '../../contract/signIn/auth'
import type { UserMethodsResponse } from '../../contract/signIn/signInMethods'
import { api } from './api'
import type { DataOf } from './transport/dataSchema'
import { dataSchema, listIn } from './transport/dataSchema'
import { updateOnSuccess } from './transport/cacheUpdates'

export type UserMethods = UserMethodsResponse['data']
/** A session or an API key of a user: `id` is the user's, `of` that of the session or key. */
type OfUser = { id: number; of: string }

const urlOf = (id: number, part: 'access' | 'methods' | 'sessions' | 'keys') =>
  `users/${encodeURIComponent(id)}/${part}`
const tagOf = (id: number) => [{ type: 'User' as const, id }]

/**
 * What one user may do, how they sign in, and their sessions and API keys. Only our platform has these calls. They have
 * the tag of the list of users plus the user's id: a change of the list refetches them, but their own changes do not
 * refetch the list.
 */
const usersApi = api.enhanceEndpoints({ addTagTypes: ['User'] }).injectEndpoints({
  endpoints: (build) => ({
    getUserAccess: build.query<UserAccess, number>({
      query: (id) => urlOf(id, 'access'),
      responseSchema: dataSchema(({ role, grants }: DataOf<UserAccessResponse>) =>
        role && Array.isArray(grants) ? { role, grants } : undefined,
      ),
      providesTags: (_result, _error, id) => tagOf(id),
    }),

    setUserAccess: build.mutation<null, { id: number } & UserAccess>({
      query: ({ id, role, grants }) => ({ url: urlOf(id, 'access'), method: 'PUT', body: { role, grants } }),
      transformResponse: () => null,
      async onQueryStarted({ id, role, grants }, { dispatch, queryFulfilled }) {
        // Updates the cache before the refetch, so that the page never shows the earlier rights.
        const replace = usersApi.util.updateQueryData('getUserAccess', id, () => ({ role, grants }))
        await updateOnSuccess(queryFulfilled, () => dispatch(replace))
      },
      // Without an id, so that the list, which shows the role, is refetched too.
      invalidatesTags: ['User'],
    }),

    getUserMethods: build.query<UserMethods, number>({
      query: (id) => urlOf(id, 'methods'),
      responseSchema: dataSchema(({ authenticators, passkeys, ...rest }: DataOf<UserMethodsResponse>) =>
        listIn(authenticators) && listIn(passkeys)
          ? {
              authenticators: authenticators ?? [],
              passkeys: passkeys ?? [],
              recoveryCodes: rest.recoveryCodes ?? 0,
              hasPassword: rest.hasPassword ?? false,
              singleSignOn: rest.singleSignOn ?? false,
            }
          : undefined,
      ),
      providesTags: (_result, _error, id) => tagOf(id),
    }),

    getUserSessions: build.query<OwnSession[], number>({
      query: (id) => urlOf(id, 'sessions'),
      responseSchema: dataSchema(({ sessions }: DataOf<OwnSessionsResponse>) => listIn(sessions)),
      providesTags: (_result, _error, id) => tagOf(id),
    }),

    endUserSession: build.mutation<null, OfUser>({
      query: ({ id, of }) => ({ url: `${urlOf(id, 'sessions')}/${encodeURIComponent(of)}`, method: 'DELETE' }),
      transformResponse: () => null,
      async onQueryStarted({ id, of }, { dispatch, queryFulfilled }) {
        const remove = usersApi.util.updateQueryData('getUserSessions', id, (sessions) =>
          sessions.filter((session) => session.id !== of),
        )
        await updateOnSuccess(queryFulfilled, () => dispatch(remove))
      },
      invalidatesTags: (_result, _error, { id }) => tagOf(id),
    }),

    endUserSessions: build.mutation<null, number>({
      query: (id) => ({ url: urlOf(id, 'sessions'), method: 'DELETE' }),
      transformResponse: () => null,
      async onQueryStarted(id, { dispatch, queryFulfilled }) {
        const remove = usersApi.util.updateQueryData('getUserSessions', id, () => [])
        await updateOnSuccess(queryFulfilled, () => dispatch(remove))
      },
      invalidatesTags: (_result, _error, id) => tagOf(id),
    }),

    getUserKeys: build.query<ApiKey[], number>({
      query: (id) => urlOf(id, 'keys'),
      responseSchema: dataSchema(({ keys }: DataOf<ApiKeysResponse>) => listIn(keys)),
      providesTags: (_result, _error, id) => tagOf(id),
    }),

    deleteUserKey: build.mutation<null, OfUser>({
      query: ({ id, of }) => ({ url: `${urlOf(id, 'keys')}/${encodeURIComponent(of)}`, method: 'DELETE' }),
      transformResponse: () => null,
      async onQueryStarted({ id, of }, { dispatch, queryFulfilled }) {
        const remove = usersApi.util.updateQueryData('getUserKeys', id, (keys) => keys.filter((key) => key.id !== of))
        await updateOnSuccess(queryFulfilled, () => dispatch(remove))
      },
      invalidatesTags: (_result, _error, { id }) => tagOf(id),
    }),
  }),
})

export const {
  useGetUserAccessQuery,
  useSetUserAccessMutation,
  useGetUserMethodsQuery,
  useGetUserSessionsQuery,
  useEndUserSessionMutation,
  useEndUserSessionsMutation,
  useGetUserKeysQuery,
  useDeleteUserKeyMutation,
} = usersApi

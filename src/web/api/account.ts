import type { AccountResponse, PreviousSignIn, UserAccess } from '../../contract/access'
import type { OwnSession, OwnSessionsResponse } from '../../contract/signIn/auth'
import { api } from './api'
import type { DataOf } from './transport/dataSchema'
import { dataSchema, listIn } from './transport/dataSchema'
import { updateOnSuccess } from './transport/cacheUpdates'

export type OwnAccount = UserAccess & { previous_sign_in?: PreviousSignIn }

/** Calls for the user's own account. Only our platform has them. */
export const accountApi = api.enhanceEndpoints({ addTagTypes: ['OwnSession'] }).injectEndpoints({
  endpoints: (build) => ({
    /** What the user may do. A server without this call lets every user do everything. */
    getAccount: build.query<OwnAccount, void>({
      query: () => 'account',
      responseSchema: dataSchema(({ role, grants, previous_sign_in }: DataOf<AccountResponse>) =>
        role && Array.isArray(grants) ? { role, grants, ...(previous_sign_in && { previous_sign_in }) } : undefined,
      ),
    }),

    getOwnSessions: build.query<OwnSession[], void>({
      query: () => 'sessions',
      responseSchema: dataSchema(({ sessions }: DataOf<OwnSessionsResponse>) => listIn(sessions)),
      providesTags: ['OwnSession'],
    }),

    endSession: build.mutation<null, string>({
      query: (id) => ({ url: `sessions/${encodeURIComponent(id)}`, method: 'DELETE' }),
      transformResponse: () => null,
      async onQueryStarted(id, { dispatch, queryFulfilled }) {
        const remove = accountApi.util.updateQueryData('getOwnSessions', undefined, (sessions) =>
          sessions.filter((session) => session.id !== id),
        )
        await updateOnSuccess(queryFulfilled, () => dispatch(remove))
      },
      invalidatesTags: ['OwnSession'],
    }),

    endOtherSessions: build.mutation<null, void>({
      query: () => ({ url: 'sessions', method: 'DELETE' }),
      transformResponse: () => null,
      async onQueryStarted(_arg, { dispatch, queryFulfilled }) {
        const remove = accountApi.util.updateQueryData('getOwnSessions', undefined, (sessions) =>
          sessions.filter((session) => session.current),
        )
        await updateOnSuccess(queryFulfilled, () => dispatch(remove))
      },
      invalidatesTags: ['OwnSession'],
    }),
  }),
})

export const { useGetAccountQuery, useGetOwnSessionsQuery, useEndSessionMutation, useEndOtherSessionsMutation } =
  accountApi

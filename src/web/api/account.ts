import type { ChangePassword, OwnSession, OwnSessionsAnswer } from '../../contract/auth'
import { api } from './api'
import type { DataOf } from './reading'
import { listIn, reading } from './reading'

/** What signed-in users do with their own account: extras of our platform, which another server may not offer. */
const accountApi = api.enhanceEndpoints({ addTagTypes: ['OwnSession'] }).injectEndpoints({
  endpoints: (build) => ({
    getOwnSessions: build.query<OwnSession[], void>({
      queryFn: reading(
        () => 'sessions',
        ({ sessions }: DataOf<OwnSessionsAnswer>) => listIn(sessions),
      ),
      providesTags: ['OwnSession'],
    }),

    endSession: build.mutation<null, string>({
      query: (id) => ({ url: `sessions/${encodeURIComponent(id)}`, method: 'DELETE' }),
      transformResponse: () => null,
      async onQueryStarted(id, { dispatch, queryFulfilled }) {
        const remove = accountApi.util.updateQueryData('getOwnSessions', undefined, (sessions) =>
          sessions.filter((session) => session.id !== id),
        )
        await queryFulfilled.then(
          () => dispatch(remove),
          () => {},
        )
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
        await queryFulfilled.then(
          () => dispatch(remove),
          () => {},
        )
      },
      invalidatesTags: ['OwnSession'],
    }),

    /** Ends all other sessions of the user. */
    changePassword: build.mutation<null, ChangePassword>({
      query: (body) => ({ url: 'auth/change-password', method: 'POST', body }),
      transformResponse: () => null,
      invalidatesTags: ['OwnSession'],
    }),
  }),
})

export const { useGetOwnSessionsQuery, useEndSessionMutation, useEndOtherSessionsMutation, useChangePasswordMutation } =
  accountApi

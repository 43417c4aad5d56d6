import type {
  CreateInviteCode,
  DashboardHostAnswer,
  DashboardTokenAnswer,
  InviteCode,
  InviteCodesAnswer,
  SetAdmin,
  SetPassword,
  User,
  UsersAnswer,
} from '../../contract/admin'
import { api } from './api'
import type { DataOf } from './transport/answerSchema'
import { answerSchema, listIn } from './transport/answerSchema'
import { undoOnFailure, updateOnSuccess } from './transport/cacheUpdates'

const userUrl = (id: number) => `users/${encodeURIComponent(id)}`

export const adminApi = api
  .enhanceEndpoints({ addTagTypes: ['User', 'InviteCode', 'DashboardToken'] })
  .injectEndpoints({
    endpoints: (build) => ({
      getUsers: build.query<User[], void>({
        query: () => 'users',
        responseSchema: answerSchema(({ users }: DataOf<UsersAnswer>) => listIn(users)),
        providesTags: ['User'],
      }),

      setAdmin: build.mutation<null, { id: number } & SetAdmin>({
        query: ({ id, is_admin }) => ({ url: `${userUrl(id)}/admin`, method: 'PATCH', body: { is_admin } }),
        transformResponse: () => null,
        async onQueryStarted({ id, is_admin }, { dispatch, queryFulfilled }) {
          const patch = dispatch(
            adminApi.util.updateQueryData('getUsers', undefined, (users) => {
              const user = users.find((candidate) => candidate.id === id)
              if (!user) return
              user.is_admin = is_admin
              if (user.role) user.role = is_admin ? 'administrator' : 'operator'
            }),
          )
          await undoOnFailure(queryFulfilled, patch)
        },
        invalidatesTags: ['User'],
      }),

      setPassword: build.mutation<null, { id: number } & SetPassword>({
        query: ({ id, ...body }) => ({ url: `${userUrl(id)}/password`, method: 'PATCH', body }),
        transformResponse: () => null,
        invalidatesTags: ['User'],
      }),

      deleteUser: build.mutation<null, number>({
        query: (id) => ({ url: userUrl(id), method: 'DELETE' }),
        transformResponse: () => null,
        async onQueryStarted(id, { dispatch, queryFulfilled }) {
          const remove = adminApi.util.updateQueryData('getUsers', undefined, (users) =>
            users.filter((user) => user.id !== id),
          )
          await updateOnSuccess(queryFulfilled, () => dispatch(remove))
        },
        invalidatesTags: ['User'],
      }),

      getInviteCodes: build.query<InviteCode[], void>({
        query: () => 'invite-codes',
        responseSchema: answerSchema(({ codes }: DataOf<InviteCodesAnswer>) => listIn(codes)),
        providesTags: ['InviteCode'],
      }),

      createInviteCode: build.mutation<null, CreateInviteCode>({
        query: (body) => ({ url: 'invite-codes', method: 'POST', body }),
        transformResponse: () => null,
        invalidatesTags: ['InviteCode'],
      }),

      deleteInviteCode: build.mutation<null, string>({
        query: (code) => ({ url: `invite-codes/${encodeURIComponent(code)}`, method: 'DELETE' }),
        transformResponse: () => null,
        invalidatesTags: ['InviteCode'],
      }),

      getDashboardHost: build.query<string, void>({
        query: () => 'admin/k8sdashboard/host',
        responseSchema: answerSchema(({ host }: DataOf<DashboardHostAnswer>) =>
          typeof host === 'string' ? host : undefined,
        ),
      }),

      /** Null if there is no token. */
      getDashboardToken: build.query<string | null, void>({
        // A server may omit a missing token instead of sending null.
        query: () => 'admin/k8sdashboard/token',
        responseSchema: answerSchema(({ token }: DataOf<DashboardTokenAnswer>) =>
          typeof token === 'string' && token !== '' ? token : null,
        ),
        providesTags: ['DashboardToken'],
      }),

      createDashboardToken: build.mutation<null, void>({
        query: () => ({ url: 'admin/k8sdashboard/token', method: 'POST' }),
        transformResponse: () => null,
        invalidatesTags: ['DashboardToken'],
      }),

      deleteDashboardToken: build.mutation<null, void>({
        query: () => ({ url: 'admin/k8sdashboard/token', method: 'DELETE' }),
        transformResponse: () => null,
        invalidatesTags: ['DashboardToken'],
      }),
    }),
  })

export const {
  useGetUsersQuery,
  useSetAdminMutation,
  useSetPasswordMutation,
  useDeleteUserMutation,
  useGetInviteCodesQuery,
  useCreateInviteCodeMutation,
  useDeleteInviteCodeMutation,
  useGetDashboardHostQuery,
  useGetDashboardTokenQuery,
  useCreateDashboardTokenMutation,
  useDeleteDashboardTokenMutation,
} = adminApi

import type {
  CreateInviteCode,
  DashboardHostResponse,
  DashboardTokenResponse,
  InviteCode,
  InviteCodesResponse,
  SetAdmin,
  SetPassword,
  User,
  UsersResponse,
} from '../../contract/admin'
import { api } from './api'
import type { DataOf } from './transport/dataSchema'
import { dataSchema, listIn } from './transport/dataSchema'
import { changeUnlessFailed, updateOnSuccess } from './transport/cacheUpdates'

const userUrl = (id: number) => `users/${encodeURIComponent(id)}`

export const adminApi = api
  .enhanceEndpoints({ addTagTypes: ['User', 'InviteCode', 'DashboardToken'] })
  .injectEndpoints({
    endpoints: (build) => ({
      getUsers: build.query<User[], void>({
        query: () => 'users',
        responseSchema: dataSchema(({ users }: DataOf<UsersResponse>) => listIn(users)),
        providesTags: ['User'],
      }),

      setAdmin: build.mutation<null, { id: number } & SetAdmin>({
        query: ({ id, is_admin }) => ({ url: `${userUrl(id)}/admin`, method: 'PATCH', body: { is_admin } }),
        transformResponse: () => null,
        async onQueryStarted({ id, is_admin }, { dispatch, queryFulfilled }) {
          const withUser = (change: (user: User) => void) =>
            dispatch(
              adminApi.util.updateQueryData('getUsers', undefined, (users) =>
                users.filter((user) => user.id === id).forEach(change),
              ),
            )
          await changeUnlessFailed(queryFulfilled, withUser, ({ role }) => ({
            is_admin,
            ...(role && { role: is_admin ? ('administrator' as const) : ('operator' as const) }),
          }))
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
        responseSchema: dataSchema(({ codes }: DataOf<InviteCodesResponse>) => listIn(codes)),
        providesTags: ['InviteCode'],
      }),

      createInviteCode: build.mutation<null, CreateInviteCode>({
        query: (body) => ({ url: 'invite-codes', method: 'POST', body }),
        transformResponse: () => null,
        invalidatesTags: ['InviteCode'],
      }),

      /** The server decides by the present state, which may differ from the one that the user has seen. */
      deleteInviteCode: build.mutation<null, Pick<InviteCode, 'code' | 'used_by' | 'revoked'>>({
        query: ({ code, used_by, revoked }) => ({
          url: `invite-codes/${encodeURIComponent(code)}${used_by !== null || revoked ? '' : '?revoke=true'}`,
          method: 'DELETE',
        }),
        transformResponse: () => null,
        invalidatesTags: ['InviteCode'],
      }),

      getDashboardHost: build.query<string, void>({
        query: () => 'admin/k8sdashboard/host',
        responseSchema: dataSchema(({ host }: DataOf<DashboardHostResponse>) =>
          typeof host === 'string' ? host : undefined,
        ),
      }),

      /** Null if there is no token. */
      getDashboardToken: build.query<string | null, void>({
        // A server may omit a missing token instead of sending null.
        query: () => 'admin/k8sdashboard/token',
        responseSchema: dataSchema(({ token }: DataOf<DashboardTokenResponse>) =>
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

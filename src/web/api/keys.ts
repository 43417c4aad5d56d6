import type { ApiKey, ApiKeysResponse, CreateApiKey, CreatedApiKeyResponse } from '../../contract/access'
import { badResponse } from '../failure'
import { api } from './api'
import { holdText } from './heldTexts'
import type { DataOf } from './transport/dataSchema'
import { dataSchema, listIn } from './transport/dataSchema'
import { updateOnSuccess } from './transport/cacheUpdates'

/** `text` is a handle (heldTexts.ts): the key itself is a secret. */
export type CreatedKey = { info: ApiKey; text: string }

/** The signed-in user's own API keys. Only our platform has these calls. */
const keysApi = api.enhanceEndpoints({ addTagTypes: ['ApiKey'] }).injectEndpoints({
  endpoints: (build) => ({
    getApiKeys: build.query<ApiKey[], void>({
      query: () => 'keys',
      responseSchema: dataSchema(({ keys }: DataOf<ApiKeysResponse>) => listIn(keys)),
      providesTags: ['ApiKey'],
    }),

    createApiKey: build.mutation<CreatedKey, CreateApiKey>({
      async queryFn(body, _api, _options, request) {
        const { data, error } = await request({ url: 'keys', method: 'POST', body })
        if (error) return { error }
        const { key, info } = (data as { data?: DataOf<CreatedApiKeyResponse> | null } | null)?.data ?? {}
        return typeof key === 'string' && info ? { data: { info, text: holdText(key, [key]) } } : { error: badResponse }
      },
      invalidatesTags: ['ApiKey'],
    }),

    deleteApiKey: build.mutation<null, string>({
      query: (id) => ({ url: `keys/${encodeURIComponent(id)}`, method: 'DELETE' }),
      transformResponse: () => null,
      async onQueryStarted(id, { dispatch, queryFulfilled }) {
        const remove = keysApi.util.updateQueryData('getApiKeys', undefined, (keys) =>
          keys.filter((key) => key.id !== id),
        )
        await updateOnSuccess(queryFulfilled, () => dispatch(remove))
      },
      invalidatesTags: ['ApiKey'],
    }),
  }),
})

export const { useGetApiKeysQuery, useCreateApiKeyMutation, useDeleteApiKeyMutation } = keysApi

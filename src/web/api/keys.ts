import type { ApiKey, ApiKeysAnswer, CreateApiKey, CreatedApiKeyAnswer } from '../../contract/access'
import { badAnswer } from '../failure'
import { api } from './api'
import { holdText } from './heldTexts'
import type { DataOf } from './transport/answerSchema'
import { answerSchema, listIn } from './transport/answerSchema'
import { updateOnSuccess } from './transport/cacheUpdates'

/** `text` is a handle (heldTexts.ts): the key itself is a secret. */
export type CreatedKey = { info: ApiKey; text: string }

/** The signed-in user's own API keys. Only our platform has these calls. */
const keysApi = api.enhanceEndpoints({ addTagTypes: ['ApiKey'] }).injectEndpoints({
  endpoints: (build) => ({
    getApiKeys: build.query<ApiKey[], void>({
      query: () => 'keys',
      responseSchema: answerSchema(({ keys }: DataOf<ApiKeysAnswer>) => listIn(keys)),
      providesTags: ['ApiKey'],
    }),

    createApiKey: build.mutation<CreatedKey, CreateApiKey>({
      async queryFn(body, _api, _options, request) {
        const { data, error } = await request({ url: 'keys', method: 'POST', body })
        if (error) return { error }
        const { key, info } = (data as { data?: DataOf<CreatedApiKeyAnswer> | null } | null)?.data ?? {}
        return typeof key === 'string' && info ? { data: { info, text: holdText(key, [key]) } } : { error: badAnswer }
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

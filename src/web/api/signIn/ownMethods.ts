import type { ChangePassword } from '../../../contract/signIn/auth'
import type { ConnectOpenIdResponse, OpenIdConnectionResponse } from '../../../contract/signIn/openId'
import type {
  ConfirmAuthenticator,
  NewAuthenticatorResponse,
  OwnMethodsResponse,
  PasskeyOptions,
  PasskeyOptionsResponse,
  ProofResponse,
  Prove,
  RecoveryCodesResponse,
} from '../../../contract/signIn/signInMethods'
import { CODE_PATTERN } from '../../../contract/rules'
import type { ApiFailure } from '../../failure'
import { badResponse } from '../../failure'
import { api } from '../api'
import { holdText } from '../heldTexts'
import { makePasskey, promptPasskey } from './passkeyPrompts'
import type { DataOf } from '../transport/dataSchema'
import { dataSchema, listIn } from '../transport/dataSchema'

export type OwnMethods = OwnMethodsResponse['data']
export type MethodTable = 'authenticators' | 'passkeys'

/**
 * The proof of the user's identity: the password, and a one-time or recovery code. Without a code, the browser prompts
 * for a passkey.
 */
export type ProofInput = { password: string; code?: string }
/** `text` is a handle (heldTexts.ts), because texts that are shown or used once are secrets. */
export type Held = { text: string }
type Proven = { proof: ProofInput }

type Call = { url: string; method: 'POST'; body: unknown }
type Request = (call: Call) => PromiseLike<{ data?: unknown; error?: ApiFailure | undefined }>
type Outcome<Data> = { data: Data; error?: undefined } | { error: ApiFailure; data?: undefined }

async function post<Data>(request: Request, url: string, body: object): Promise<Outcome<Partial<Data>>> {
  const { data, error } = await request({ url, method: 'POST', body })
  return error ? { error } : { data: (data as { data?: Partial<Data> | null } | null)?.data ?? {} }
}

/** Proves the user's identity and makes the call in one step, so that the proof never enters the store. */
async function postProven<Data>(
  request: Request,
  proof: ProofInput,
  url: string,
  change: object = {},
): Promise<Outcome<Partial<Data>>> {
  let body: Prove = proof
  if (proof.code === undefined) {
    const { data, error } = await post<DataOf<PasskeyOptionsResponse>>(request, 'account/proof/passkey-options', {})
    if (error) return { error }
    if (!data.options) return { error: badResponse }
    const prompted = await promptPasskey(data.options)
    if (prompted.error) return prompted
    body = { ...proof, passkey: prompted.data }
  }
  const proven = await post<DataOf<ProofResponse>>(request, 'account/proof', body)
  if (proven.error) return proven
  return post<Data>(request, url, { ...change, proof: proven.data.proof })
}

/** The query function of a call that needs a proof and answers with what is shown or used once. */
const heldResponse =
  <Data>(path: string, hold: (data: Partial<Data>) => Outcome<Held>) =>
  async ({ proof }: Proven, _api: unknown, _options: unknown, request: unknown): Promise<Outcome<Held>> => {
    const { data, error } = await postProven<Data>(request as Request, proof, `account/${path}`)
    return error ? { error } : hold(data)
  }

/** @param secrets the secrets in the text that are shown */
const held = (text: string | undefined, secrets?: readonly string[]): Outcome<Held> =>
  text === undefined ? { error: badResponse } : { data: { text: holdText(text, secrets) } }
const urlOf = ({ table, id }: { table: MethodTable; id: string }) => `${table}/${encodeURIComponent(id)}`

const addTagTypes = ['OwnMethods', 'OpenIdConnection', 'OwnSession'] as const

/** How the signed-in user signs in. Only our platform has these calls. */
const ownMethodsApi = api.enhanceEndpoints({ addTagTypes }).injectEndpoints({
  endpoints: (build) => ({
    getOwnMethods: build.query<OwnMethods, void>({
      query: () => 'account/methods',
      responseSchema: dataSchema(({ authenticators, passkeys, recoveryCodes = 0 }: DataOf<OwnMethodsResponse>) =>
        listIn(authenticators) && listIn(passkeys)
          ? { authenticators: authenticators ?? [], passkeys: passkeys ?? [], recoveryCodes }
          : undefined,
      ),
      providesTags: ['OwnMethods'],
    }),

    renameMethod: build.mutation<null, { table: MethodTable; id: string; name: string }>({
      query: ({ name, ...method }) => ({ url: `account/${urlOf(method)}`, method: 'PATCH', body: { name } }),
      transformResponse: () => null,
      invalidatesTags: ['OwnMethods'],
    }),

    removeMethod: build.mutation<null, { table: MethodTable; id: string } & Proven>({
      async queryFn({ proof, ...method }, _api, _options, request) {
        const { error } = await postProven(request as Request, proof, `account/${urlOf(method)}/remove`)
        return error ? { error } : { data: null }
      },
      invalidatesTags: ['OwnMethods'],
    }),

    /** Holds the data of `NewAuthenticatorResponse` as JSON. */
    beginAuthenticator: build.mutation<Held, Proven>({
      queryFn: heldResponse<DataOf<NewAuthenticatorResponse>>('authenticators', (data) => {
        const { setup, qrCode, secret } = data
        return setup && qrCode && secret ? held(JSON.stringify(data), [secret]) : held(undefined)
      }),
    }),

    confirmAuthenticator: build.mutation<null, ConfirmAuthenticator>({
      query: (body) => ({ url: 'account/authenticators/confirm', method: 'POST', body }),
      transformResponse: () => null,
      invalidatesTags: ['OwnMethods'],
    }),

    /** Holds the options as JSON. */
    beginPasskey: build.mutation<Held, Proven>({
      queryFn: heldResponse<DataOf<PasskeyOptionsResponse>>('passkeys/options', ({ options }) =>
        held(options && JSON.stringify(options)),
      ),
    }),

    /** @param options as `beginPasskey` holds them; they stay usable until a passkey was created */
    createPasskey: build.mutation<null, { name: string; options: string }>({
      async queryFn({ name, options }, _api, _options, request) {
        const made = await makePasskey(JSON.parse(options) as PasskeyOptions)
        if (made.error) return made
        const { error } = await post(request as Request, 'account/passkeys', { name, response: made.data })
        return error ? { error } : { data: null }
      },
      invalidatesTags: ['OwnMethods'],
    }),

    /** Holds the codes, one a line. */
    createRecoveryCodes: build.mutation<Held, Proven>({
      queryFn: heldResponse<DataOf<RecoveryCodesResponse>>('recovery-codes', (data) => {
        const codes = listIn(data.codes)
        return held(codes?.join('\n'), codes)
      }),
      invalidatesTags: ['OwnMethods'],
    }),

    /** Ends all other sessions of the user. */
    changePassword: build.mutation<null, { newPassword: string } & Proven>({
      async queryFn({ proof, newPassword }, _api, _options, request) {
        const { password, code } = proof
        const url = 'auth/change-password'
        // A one-time code needs no call before this one, and works with a server without proofs.
        const { error } =
          code !== undefined && CODE_PATTERN.test(code)
            ? await post(request as Request, url, { password, newPassword, token: code } satisfies ChangePassword)
            : await postProven(request as Request, proof, url, { newPassword })
        return error ? { error } : { data: null }
      },
      invalidatesTags: ['OwnMethods', 'OwnSession'],
    }),

    getOpenIdConnection: build.query<OpenIdConnectionResponse['data'], void>({
      query: () => 'account/openid',
      responseSchema: dataSchema(({ name, connected = false, own = false }: DataOf<OpenIdConnectionResponse>) => ({
        ...(name !== undefined && { name }),
        connected,
        own,
      })),
      providesTags: ['OpenIdConnection'],
    }),

    /** Holds the address of the provider's page. */
    connectOpenId: build.mutation<Held, Proven>({
      queryFn: heldResponse<DataOf<ConnectOpenIdResponse>>('openid', ({ url }) => held(url)),
    }),

    disconnectOpenId: build.mutation<null, void>({
      query: () => ({ url: 'account/openid', method: 'DELETE' }),
      transformResponse: () => null,
      invalidatesTags: ['OpenIdConnection'],
    }),
  }),
})

export const {
  useGetOwnMethodsQuery,
  useRenameMethodMutation,
  useRemoveMethodMutation,
  useBeginAuthenticatorMutation,
  useConfirmAuthenticatorMutation,
  useBeginPasskeyMutation,
  useCreatePasskeyMutation,
  useCreateRecoveryCodesMutation,
  useChangePasswordMutation,
  useGetOpenIdConnectionQuery,
  useConnectOpenIdMutation,
  useDisconnectOpenIdMutation,
} = ownMethodsApi

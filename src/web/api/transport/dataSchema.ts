/** The data of a response. All fields are optional, because another server may omit some. */
export type DataOf<Body extends { data: unknown }> = Partial<Body['data']>

/**
 * Returns a Standard Schema (https://standardschema.dev), as `responseSchema` of calls that need a part of a response's
 * data. `read` extracts it; if it returns undefined, the call fails with BAD_RESPONSE (`catchSchemaFailure` in api.ts).
 */
export const dataSchema = <Content extends object, Data>(
  read: (content: Content) => Data | undefined,
): {
  '~standard': {
    version: 1
    vendor: string
    validate: (response: unknown) => { value: Data; issues?: undefined } | { issues: { message: string }[] }
  }
} => ({
  '~standard': {
    version: 1,
    vendor: 'quarterdeck',
    validate(response) {
      const value = read(((response as { data?: Content | null } | null)?.data ?? {}) as Content)
      return value === undefined ? { issues: [{ message: 'The response is incomplete.' }] } : { value }
    },
  },
})

/** Returns the list, or undefined if it is not an array. */
export const listIn = <Item>(list: Item[] | undefined) => (Array.isArray(list) ? list : undefined)

import type { ApiFailure } from '../../failure'
import { badAnswer } from '../../failure'

type Answered = { data?: unknown; error?: ApiFailure }

/** The data of an answer. All fields are optional, because another server may omit some. */
export type DataOf<Answer extends { data: unknown }> = Partial<Answer['data']>

/**
 * Returns a `queryFn` for calls that need a part of an answer's data. `read` extracts it; if it returns undefined, the
 * call fails with BAD_ANSWER.
 */
export function queryFnOf<Arg, Content extends object, Data>(
  urlOf: (arg: Arg) => string,
  read: (content: Content) => Data | undefined,
) {
  return async (
    arg: Arg,
    _api: unknown,
    _options: unknown,
    request: (url: string) => Answered | PromiseLike<Answered>,
  ) => {
    const { data, error } = await request(urlOf(arg))
    const found = error ? undefined : read(((data as { data?: Content | null } | null)?.data ?? {}) as Content)
    return found === undefined ? { error: error ?? badAnswer } : { data: found }
  }
}

/** Returns the list, or undefined if it is not an array. */
export const listIn = <Item>(list: Item[] | undefined) => (Array.isArray(list) ? list : undefined)

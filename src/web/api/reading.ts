import type { ApiFailure } from './failure'
import { badAnswer } from './failure'

type Answered = { data?: unknown; error?: ApiFailure }

/** What an answer holds in its envelope, as far as a server keeps to the contract. */
export type DataOf<Answer extends { data: unknown }> = Partial<Answer['data']>

/**
 * The `queryFn` of a call whose data is a part of its answer: `read` takes it out. Where it finds none the call has failed, whatever
 * its status said.
 */
export function reading<Arg, Content extends object, Data>(
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

/** A list, if it is one. */
export const listIn = <Item>(list: Item[] | undefined) => (Array.isArray(list) ? list : undefined)

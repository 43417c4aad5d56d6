import { OpenIdProblem } from './problem'

/** Metadata, keys and tokens take a few kilobytes. */
const MAX_BODY_BYTES = 2 ** 20

/**
 * As `fetch`, for the provider's small responses: the response has its whole body already. The signal of `options` also
 * aborts the read of the body.
 * @throws OpenIdProblem unavailable if the provider does not answer in time, refused if the body is too large
 */
export async function boundedFetch(url: string, options: RequestInit): Promise<Response> {
  try {
    return await fetchWhole(url, options)
  } catch (error) {
    if (error instanceof OpenIdProblem) throw error
    const { message, cause } = error as Error
    const reason = (cause as Error | undefined)?.message
    throw new OpenIdProblem(
      'unavailable',
      `${new URL(url).host}: ${message}${reason === undefined ? '' : `: ${reason}`}`,
    )
  }
}

async function fetchWhole(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES)
      throw new OpenIdProblem('refused', `${new URL(url).host}: the response is larger than ${MAX_BODY_BYTES} bytes`)
    chunks.push(chunk)
  }
  const { status, statusText, headers } = response
  const hasBody = ![204, 205, 304].includes(status)
  const copy = new Response(hasBody ? Buffer.concat(chunks) : null, { status, statusText, headers })
  return Object.defineProperty(copy, 'url', { value: response.url })
}

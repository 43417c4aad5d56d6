import { CliError, EXIT } from '../failure'

/** Bytes of a body. The listing of a directory with 100,000 entries has 20 MB. */
const MAX_BYTES = 128 * 2 ** 20
const MAX_MS = 60_000

/**
 * Reads the body of a response that is not a file, so that an endless response cannot use up this machine's memory or
 * hang the command.
 * @returns the same response with the whole body
 * @throws CliError if it is too large or does not arrive in time
 */
export async function boundedResponse(
  response: Response,
  { maxBytes = MAX_BYTES, maxMs = MAX_MS } = {},
): Promise<Response> {
  if (!response.body) return response
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void reader.cancel().catch(() => undefined)
  }, maxMs)
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (isLate) throw new CliError(EXIT.unreachable, 'The server does not end its response. Check the address.')
      if (done) break
      bytes += value.byteLength
      if (bytes > maxBytes)
        throw new CliError(EXIT.failed, `The server’s response is larger than ${maxBytes} bytes. Check the address.`)
      chunks.push(value)
    }
  } finally {
    clearTimeout(timer)
    void reader.cancel().catch(() => undefined)
  }
  const { status, statusText, headers } = response
  return new Response(Buffer.concat(chunks), { status, statusText, headers })
}

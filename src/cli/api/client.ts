import { setTimeout as delay } from 'node:timers/promises'
import createClient, { type Client } from 'openapi-fetch'
import type { ZodType } from 'zod'
import { adviceOf, CliError, EXIT, exitCodeOf } from '../failure'
import type { SignIn } from '../configFile'
import { boundedResponse } from './boundedResponse'
import type { components, paths } from './schema'

export type Deployment = components['schemas']['Deployment']
export type Instance = components['schemas']['Instance']
type Failure = components['schemas']['Failure']

/** The calls of a console, made with a key. */
export interface Api extends SignIn {
  calls: Client<paths>
}

/** Retries after responses with 429 before the refusal is reported. */
export const MAX_WAITS = 10
const MAX_WAIT_SECONDS = 120
/** The calls whose responses are files, which may be of any size. */
const FILE_CALLS = /\/api\/sftp\/download(?:-multiple)?$/

/** The code of a call that a proxy stopped waiting for. */
const GATEWAY_TIMEOUT = 'GATEWAY_TIMEOUT'

/** The call of each response, for messages about it. */
const callsOf = new WeakMap<Response, string>()

/**
 * Creates the client of a console. It repeats calls that exceed a limit, except those that stream a form.
 * @param note prints that a call waits for a limit
 * @param ended aborts all calls
 */
export function createApi(signIn: SignIn, note: (text: string) => void, ended?: AbortSignal): Api {
  const throwConnectionFailure = (error: unknown): never => {
    throw error instanceof CliError ? error : connectionFailure(signIn.server, error)
  }
  const send = async (request: Request): Promise<Response> => {
    for (let waits = 0; ; waits += 1) {
      // The files of a form are streamed, so only its sender can retry (commands/copy/upload.ts).
      const isRepeatable = !request.headers.get('content-type')?.startsWith('multipart/')
      const signal = AbortSignal.any([request.signal, ...(ended ? [ended] : [])])
      const response = await fetch(isRepeatable ? request.clone() : request, { signal }).catch(throwConnectionFailure)
      const seconds = retryAfterOf(response)
      if (seconds === undefined || !isRepeatable || waits >= MAX_WAITS) {
        const { pathname } = new URL(request.url)
        const isFile = response.ok && FILE_CALLS.test(pathname)
        const whole = isFile ? response : await boundedResponse(response).catch(throwConnectionFailure)
        callsOf.set(whole, `${request.method} ${pathname}`)
        if (whole.ok && !isFile) await requireJson(whole)
        return whole
      }
      await response.body?.cancel()
      note(`The limit of calls is reached: trying again in ${seconds} s.`)
      await delay(seconds * 1000, undefined, { signal })
    }
  }
  const calls = createClient<paths>({
    baseUrl: signIn.server,
    fetch: send,
    // The key must not be sent to another address.
    redirect: 'manual',
    headers: { authorization: `Bearer ${signIn.key}` },
  })
  return { ...signIn, calls }
}

/**
 * Seconds until a call that exceeded a limit may be repeated; undefined if it did not exceed one, or if the wait is too
 * long.
 */
export function retryAfterOf({ status, headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return status === 429 && seconds <= MAX_WAIT_SECONDS ? Math.max(0, seconds) : undefined
}

interface CallResult<Data> {
  data?: Data | undefined
  error?: Failure | undefined
  response: Response
}

/** The response to a call. @throws CliError if the server refused it */
export function bodyOf<Data>({ data, error, response }: CallResult<Data>): Data {
  if (response.ok && data !== undefined) return data
  const { status, headers } = response
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location)
    throw new CliError(
      EXIT.failed,
      `The server redirects to ${location}. Sign in with the address of the console itself.`,
    )
  // A proxy may answer in another format.
  const failure = typeof error?.message === 'string' ? error : undefined
  const id = headers.get('x-request-id')
  const request = status >= 500 && id ? ` (request ${id})` : ''
  if (!failure)
    throw new CliError(
      status === 502 || status === 504 ? EXIT.unreachable : exitCodeOf(status),
      `The server answered ${status}, but not as a console does. Check the address.${request}`,
      status === 504 ? GATEWAY_TIMEOUT : undefined,
    )
  throw new CliError(exitCodeOf(status), `${failure.message}${request}${adviceOf(status)}`, failure.code)
}

/** Whether Node.js (after five minutes) or a proxy (often after one) stopped waiting for the response. */
export const isResponseTimeout = (error: Error): boolean =>
  error instanceof CliError && (error.code === GATEWAY_TIMEOUT || error.code === 'UND_ERR_HEADERS_TIMEOUT')

/**
 * The data of a response.
 * @param schema the schema of the whole response
 * @throws CliError if the server refused the call, or its response has another form
 */
export function dataOf<Data>(result: CallResult<{ data: Data }>, schema: ZodType): Data {
  const body = bodyOf(result)
  // A newer server may send further fields and values, which are shown unchanged.
  const issue = schema.safeParse(body).error?.issues.find(({ code }) => code === 'invalid_type')
  if (issue) throw unexpectedResponse(result.response, `${issue.path.join('.') || 'all of it'}: ${issue.message}`)
  return body.data
}

/** @throws CliError for a successful response that is not JSON, such as the page of a proxy */
async function requireJson(response: Response): Promise<void> {
  try {
    JSON.parse(await response.clone().text())
  } catch {
    throw unexpectedResponse(response, 'it is not JSON')
  }
}

const unexpectedResponse = (response: Response, reason: string) =>
  new CliError(
    EXIT.failed,
    `The server answered ${callsOf.get(response) ?? 'a call'} with ${response.status}, but not as a console does (${reason}). ` +
      'Check the address, and whether this command line is of the version of the console.',
  )

/** Converts a failed connection to an error for the user. */
export function connectionFailure(server: string, thrown: unknown): CliError {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  // What is sent could not be read.
  if (cause instanceof CliError) return cause
  const { code = '', message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { message: String(cause) }
  const advice = /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS/.test(code)
    ? 'Name the certificate of its authority in NODE_EXTRA_CA_CERTS.'
    : 'Is it running, and is the address right?'
  return new CliError(EXIT.unreachable, `${server} cannot be reached (${code || message}). ${advice}`, code)
}

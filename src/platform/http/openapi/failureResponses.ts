import { errorStatus, type ErrorCode } from '../../../contract/errors'
import { referenceTo } from './components'

/** What each code means, for readers of the description. */
const meanings: Record<ErrorCode, string> = {
  INVALID_INPUT: 'The request is not valid. `field` names the part that is not, where there is one.',
  INVALID_INVITE: 'The invite code is not valid, was used, was revoked or has expired.',
  INVALID_DEFINITION: 'The configuration is not valid. `line` is its line, `field` the path of the setting.',
  BAD_CREDENTIALS: 'The username or the password is wrong.',
  INVALID_CODE: 'The one-time code is wrong or was used already.',
  STEP_EXPIRED: 'The first step was too long ago or tried too often. Begin again.',
  NO_SESSION: 'There is no valid session token or API key in the request.',
  NOT_ALLOWED: 'The user or the API key has no right to do this.',
  NOT_FOUND: 'It does not exist, or the user may not see it.',
  METHOD_NOT_ALLOWED: 'The call does not exist with this method. `Allow` lists the methods that exist.',
  TOO_SLOW: 'The request did not arrive in time.',
  NAME_TAKEN: 'The name is taken.',
  CONFLICT: 'The current state does not allow this call. The message says why.',
  CANCELLED: 'A user cancelled the job.',
  TOO_LARGE: 'The request, the file or the archive is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The file is not a text.',
  RANGE_NOT_SATISFIABLE: 'The requested range begins after the end of the file.',
  TOO_MANY_TRIES: 'Too many requests. `Retry-After` says when to try again, in seconds.',
  HEADER_TOO_LARGE: 'The header of the request is too large.',
  INTERNAL: 'An unexpected error. The server’s log has details under the id in `x-request-id`.',
  UNAVAILABLE: 'A part of the platform that the call needs does not answer at present. Try again.',
  NOT_CONFIGURED: 'The service is not configured on this platform.',
  DISK_FULL: 'A disk is full.',
}

interface Failing {
  /** The codes that the route declares. */
  errors: readonly ErrorCode[]
  isPublic: boolean
  changes: boolean
  hasBody: boolean
}

/** Every code with which a call may fail: those it declares and those of all calls of its kind. */
export function codesOf({ errors, isPublic, changes, hasBody }: Failing): ErrorCode[] {
  const general: ErrorCode[] = ['INVALID_INPUT', 'TOO_MANY_TRIES', 'HEADER_TOO_LARGE', 'INTERNAL', 'UNAVAILABLE']
  const all = [
    ...general,
    ...(isPublic ? [] : (['NO_SESSION', 'NOT_ALLOWED'] as const)),
    ...(changes ? (['DISK_FULL'] as const) : []),
    ...(hasBody ? (['TOO_LARGE', 'TOO_SLOW'] as const) : []),
    ...errors,
  ]
  return (Object.keys(errorStatus) as ErrorCode[]).filter((code) => all.includes(code))
}

/** The failed responses of a call as OpenAPI has them: one per status, with the codes that it may have. */
export function errorResponses(codes: readonly ErrorCode[]): Record<number, object> {
  const statuses = [...new Set(codes.map((code) => errorStatus[code]))]
  return Object.fromEntries(
    statuses.map((status) => {
      const some = codes.filter((code) => errorStatus[code] === status)
      return [
        status,
        {
          description: some.map((code) => `\`${code}\`: ${meanings[code]}`).join('\n\n'),
          ...([429, 503].includes(status) && {
            headers: { 'retry-after': { type: 'integer', description: 'Seconds.' } },
          }),
          content: {
            'application/json': {
              schema: {
                allOf: [
                  referenceTo('Failure'),
                  { type: 'object', properties: { code: { enum: some } }, required: ['code'] },
                ],
              },
              examples: Object.fromEntries(some.map((code) => [code, { value: exampleOf(code) }])),
            },
          },
        },
      ]
    }),
  )
}

function exampleOf(code: ErrorCode): object {
  const message = meanings[code].replaceAll('`', '')
  return { success: false, code, message, error: message }
}

interface Response {
  content?: { 'application/json'?: { examples?: object } }
}

/**
 * Moves failure responses, many of which are shared by calls, to a document's components. @returns the same document
 */
export function shareErrors<Document extends object>(document: Document): Document {
  const { paths = {}, components } = document as {
    paths?: Record<string, Record<string, { responses?: Record<string, object> }>>
    components: { responses?: Record<string, object> }
  }
  const shared: Record<string, object> = {}
  for (const { responses = {} } of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, response] of Object.entries(responses)) {
      const codes = Object.keys((response as Response).content?.['application/json']?.examples ?? {})
      if (codes.length === 0) continue
      const name = codes.join('.')
      shared[name] = response
      responses[status] = { $ref: `#/components/responses/${name}` }
    }
  }
  components.responses = shared
  return document
}

import type { FastifyRequest } from 'fastify'
import { SeveralFiles } from '../../../contract/file'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { fieldOf } from '../activity'

/** In bytes. A selection may have ten thousand files, each with 800 bytes for its path and name. */
export const SELECTION_BODY_LIMIT = 8 * 2 ** 20

/** The configuration of a route for users that is recorded in the activity log. @param subject the field `path` if missing */
export function recordedFileRoute(
  action: string,
  subject: (request: FastifyRequest) => string | undefined = fieldOf('body', 'path'),
) {
  return { access: 'user', activity: { kind: 'file', action, subject } } as const
}

/** The configuration of a route for users that changes no file. */
export const unrecordedFileRoute = { access: 'user', activity: false } as const

/** A short description of the selected paths for the activity log. */
export function pathsOf({ body }: FastifyRequest): string | undefined {
  const files = SeveralFiles.safeParse(body).data?.files
  if (!files) return undefined
  const [first] = files
  return files.length === 1 ? first?.path : `${files.length} entries beginning with ${first?.path ?? SHARED_ROOT}`
}

import type { FastifyRequest } from 'fastify'
import { SeveralFiles } from '../../../contract/file'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { checkedByHandler } from '../access'
import { fieldOf } from '../activity'

/** In bytes: a selection may have ten thousand files with 800 bytes each for path and name. */
export const SELECTION_BODY_LIMIT = 8 * 2 ** 20

/**
 * The access of every call for files: the handler checks the right on the deployment that a path belongs to (see
 * fileAccess.ts).
 */
export const forFiles = checkedByHandler('files')

/**
 * The configuration of a route for files that is recorded in the activity log.
 * @param subject default: the field `path`
 */
export function recordedFileRoute(
  action: string,
  subject: (request: FastifyRequest) => string | undefined = fieldOf('body', 'path'),
) {
  return { access: forFiles, activity: { kind: 'file', action, subject } } as const
}

/** The configuration of a route that changes no files. */
export const unrecordedFileRoute = { access: forFiles, activity: false } as const

/** A short description of the selected paths for the activity log. */
export function pathsOf({ body }: FastifyRequest): string | undefined {
  const files = SeveralFiles.safeParse(body).data?.files
  if (!files) return undefined
  const [first] = files
  return files.length === 1 ? first?.path : `${files.length} entries beginning with ${first?.path ?? SHARED_ROOT}`
}

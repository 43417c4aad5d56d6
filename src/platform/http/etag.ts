import { createHash } from 'node:crypto'

/** A strong ETag of a body, with its quotes. */
export const etagOf = (body: Buffer | string) => `"${createHash('sha1').update(body).digest('base64url')}"`

/**
 * Whether a client that sent `If-None-Match` has the current version. Compares weakly (RFC 9110 §13.1.2), because a
 * proxy that compresses makes an ETag weak.
 * @param header the client's @param etag the current one, with its quotes
 */
export function matchesETag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false
}

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { AtPath } from '../../../contract/file'
import { formatPath, parsePath } from '../../share/apiPath'
import type { Files } from '../../share/files'
import { bytesOf, joined } from '../../share/listing/entries'
import type { ResponseBuffers } from '../responseLimits'
import type { Router } from '../router'

export interface ListingRouteParts {
  files: Pick<Files, 'listing'>
  /** The type of the deployment whose directory contains this path; null if there is none. */
  deploymentTypeIndexAt: (path: string) => Promise<number | null>
  responseBuffers: ResponseBuffers
}

/** In bytes. */
const LONG_LISTING = 2 ** 20

/** The listing of a directory (product §7). */
export function listingRoute(app: Router, { files, deploymentTypeIndexAt, responseBuffers }: ListingRouteParts): void {
  app.get(
    '/api/sftp/files',
    { config: { access: 'user' }, schema: { querystring: AtPath } },
    async (request, reply) => {
      const { path } = request.query
      // Validated before the concurrent work begins, whose rejection would otherwise be unhandled.
      const wirePath = formatPath(parsePath(path))
      const listed = files.listing.list(path).then((entries) => {
        const length = bytesOf(entries)
        // A long listing is shared by all clients and counted once. Short ones count like every response.
        const isLong = length > LONG_LISTING
        if (isLong) responseBuffers.hold(request, reply, entries.json, length)
        return { json: entries.json, isLong }
      })
      const [{ json, isLong }, typeIndex] = await Promise.all([listed, deploymentTypeIndexAt(wirePath)])
      // FilesAnswer, assembled from the listing processes' JSON, so that a hundred thousand entries are not parsed
      // again.
      const parts = [
        Buffer.from('{"success":true,"data":{"files":['),
        ...joined(json),
        Buffer.from(`],"deploymentTypeIndex":${typeIndex}}}`),
      ]
      // 304 for a client that has the same listing (RFC 9110 §13.1.2).
      const etag = `"${parts.reduce((hash, part) => hash.update(part), createHash('sha1')).digest('base64url')}"`
      reply.header('etag', etag)
      if (matchesETag(request.headers['if-none-match'], etag)) return reply.code(304).send()
      reply.type('application/json; charset=utf-8').header(
        'content-length',
        parts.reduce((sum, { byteLength }) => sum + byteLength, 0),
      )
      return reply.send(isLong ? Readable.from(parts, { objectMode: true, highWaterMark: 1 }) : Buffer.concat(parts))
    },
  )
}

/** Weak comparison with `If-None-Match` (RFC 9110 §13.1.2): a proxy that compresses makes an ETag weak. */
function matchesETag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false
}

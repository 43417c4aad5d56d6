import type { FastifyReply, FastifyRequest } from 'fastify'
import { AtPath, FilesResponse } from '../../../contract/file'
import { createFairQueue } from '../../concurrency/fairQueue'
import { formatPath, parsePath } from '../../share/apiPath'
import { abortOnDisconnect } from '../abortSignals'
import { presentUserOf, userOf } from '../access'
import { matchesETag } from '../etag'
import type { FileAccess } from '../fileAccess'
import { call, nothing } from '../openapi/call'
import type { Router } from '../router'
import { forFiles } from './fileRouteConfig'

export interface ListingRouteParts {
  fileAccess: FileAccess
  /** The type of the deployment whose directory contains this path; null if there is none. */
  deploymentTypeIndexAt: (path: string) => Promise<number | null>
}

/** The listing of a directory (product §7). */
export function listingRoute(app: Router, { fileAccess, deploymentTypeIndexAt }: ListingRouteParts): void {
  const queue = createFairQueue()

  /** Users take turns, because a large directory takes seconds and there are few threads for listings. */
  async function listInTurn(request: FastifyRequest, reply: FastifyReply, path: string) {
    const release = await queue.acquire(userOf(request).userId, abortOnDisconnect(reply))
    try {
      const { files } = await fileAccess.of(await presentUserOf(request))
      return await files.listing.list(path, await deploymentTypeIndexAt(path))
    } finally {
      release()
    }
  }

  app.get(
    '/api/sftp/files',
    {
      config: { access: forFiles },
      schema: {
        ...call('listFiles', 'List a directory', 'NOT_FOUND', 'CONFLICT', 'TOO_LARGE'),
        querystring: AtPath,
        rawResponses: { 200: FilesResponse, 304: nothing },
      },
    },
    async (request, reply) => {
      const path = formatPath(parsePath(request.query.path))
      const { body, etag } = await listInTurn(request, reply, path)
      reply.header('etag', etag)
      // 304 for a client that has the same listing (RFC 9110 §13.1.2).
      if (matchesETag(request.headers['if-none-match'], etag)) return reply.code(304).send()
      // Already serialized as a FilesResponse, in a thread of its own: a hundred thousand entries take long.
      return reply.type('application/json; charset=utf-8').send(body)
    },
  )
}

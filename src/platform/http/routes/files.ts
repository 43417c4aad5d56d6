import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Done, Nothing } from '../../../contract/envelope'
import {
  AtPath,
  CreateFile,
  DownloadFile,
  DownloadTicketAnswer,
  FileContentAnswer,
  FileJobsAnswer,
  MoveFile,
  SaveFile,
  SaveFileAnswer,
  SeveralFiles,
  StoredFiles,
} from '../../../contract/file'
import type { DownloadTickets } from '../../accounts/downloadTickets'
import { AppError } from '../../errors'
import type { Files } from '../../share/files'
import type { FileDownload } from '../../share/transfers/downloads'
import { bytesOf, joined } from '../../share/listing/entries'
import { createFairQueue } from '../../concurrency/fairQueue'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { parsePath, formatPath } from '../../share/apiPath'
import { userOf } from '../access'
import { fieldOf } from '../activity'
import type { ResponseBuffers } from '../responseLimits'
import { byteRangeOf } from '../byteRange'
import { done } from '../envelope'
import { abortOnDisconnect } from '../abortSignals'
import type { Router } from '../router'
import { createZipLimit } from '../zipLimit'

export interface FileRouteParts {
  files: Files
  tickets: DownloadTickets
  /** The type of the deployment whose directory contains this path; null if there is none. */
  deploymentTypeIndexAt: (path: string) => Promise<number | null>
  responseBuffers: ResponseBuffers
}

/** In bytes. File contents may be 5 MiB of text, which JSON escapes may enlarge. */
const CONTENT_BODY_LIMIT = 32 * 2 ** 20
/** In bytes. A selection may have ten thousand files, each with 800 bytes for its path and name. */
const SEVERAL_BODY_LIMIT = 8 * 2 ** 20
/** In bytes. */
const LONG_LISTING = 2 ** 20

/** Files of product §7 without uploads, and our own download tickets and jobs. */
export function fileRoutes(
  app: Router,
  { files, tickets, deploymentTypeIndexAt, responseBuffers }: FileRouteParts,
): void {
  const readQueue = createFairQueue()
  const zips = createZipLimit()
  const unrecorded = { access: 'user', activity: false } as const
  const recorded = (
    action: string,
    subject: (request: FastifyRequest) => string | undefined = fieldOf('body', 'path'),
  ) => ({ access: 'user', activity: { kind: 'file', action, subject } }) as const

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

  app.get(
    '/api/sftp/file/content',
    { config: { access: 'user' }, schema: { querystring: AtPath, response: { 200: FileContentAnswer } } },
    async (request, reply) => {
      // Few at a time: each read holds its content in several forms before the response is counted.
      const release = await readQueue.acquire(userOf(request).userId, abortOnDisconnect(reply))
      try {
        return done(await files.textFiles.read(request.query.path))
      } finally {
        release()
      }
    },
  )

  app.patch(
    '/api/sftp/file/content',
    {
      bodyLimit: CONTENT_BODY_LIMIT,
      config: recorded('saved file'),
      schema: { body: SaveFile, response: { 200: SaveFileAnswer } },
    },
    async ({ body }) => done({ modifyTime: await files.textFiles.save(body) }),
  )

  app.post(
    '/api/sftp/file',
    { config: recorded('created file'), schema: { body: CreateFile, response: { 201: Done } } },
    async ({ body }, reply) => {
      await files.changes.createFile(body.path)
      return reply.code(201).send(done({}))
    },
  )

  app.post(
    '/api/sftp/directory',
    { config: recorded('created directory'), schema: { body: AtPath, response: { 201: Done } } },
    async ({ body }, reply) => {
      await files.changes.createDirectory(body.path)
      return reply.code(201).send(done({}))
    },
  )

  const deleting = (what: string) => ({
    config: recorded(`deleted ${what}`, fieldOf('query', 'path')),
    schema: { querystring: AtPath, body: Nothing, response: { 200: Done } },
  })
  app.delete('/api/sftp/file', deleting('file'), async ({ query }) => {
    await files.changes.removeFile(query.path)
    return done({})
  })
  app.delete('/api/sftp/directory', deleting('directory'), async ({ query }) => {
    await files.changes.removeDirectory(query.path)
    return done({})
  })

  const moved = (request: FastifyRequest) =>
    `${fieldOf('body', 'sourcePath')(request) ?? ''} to ${fieldOf('body', 'targetPath')(request) ?? ''}`
  app.post(
    '/api/sftp/move',
    { config: recorded('moved', moved), schema: { body: MoveFile, response: { 200: Done } } },
    async ({ body }) => {
      await files.changes.move(body.sourcePath, body.targetPath)
      return done({})
    },
  )

  app.post(
    '/api/sftp/download-ticket',
    { config: unrecorded, schema: { body: AtPath, response: { 200: DownloadTicketAnswer } } },
    async (request) => done({ token: await tickets.issue(userOf(request), formatPath(parsePath(request.body.path))) }),
  )

  // Public, because a download address that a browser opens carries no header: the ticket authorizes it.
  app.get(
    '/api/sftp/download',
    // A HEAD request would use up the ticket.
    {
      exposeHeadRoute: false,
      config: { access: 'public', activity: { kind: 'file', action: 'downloaded', subject: fieldOf('query', 'path') } },
      schema: { querystring: DownloadFile },
    },
    async (request, reply) => {
      const { path, token } = request.query
      request.activityActor = (await tickets.take(token, formatPath(parsePath(path)))).username
      return sendFile(request, reply, await files.downloads.file(path))
    },
  )

  app.post(
    '/api/sftp/download-multiple',
    { bodyLimit: SEVERAL_BODY_LIMIT, config: recorded('downloaded', pathsOf), schema: { body: SeveralFiles } },
    async (request, reply) => {
      const { body } = request
      zips.begin(request, reply)
      const [first] = body.files
      const name = body.files.length === 1 && first ? `${first.name}.zip` : 'files.zip'
      return asAttachment(reply, name)
        .type('application/zip')
        .send(await files.downloads.zip(body.files.map(({ path }) => path)))
    },
  )

  const stored = { response: { 201: StoredFiles } }
  app.post(
    '/api/sftp/archive',
    { config: recorded('archived'), schema: { body: AtPath, ...stored } },
    async (request, reply) =>
      reply
        .code(201)
        .send(
          done({ files: [await files.archive(userOf(request).userId, request.body.path, abortOnDisconnect(reply))] }),
        ),
  )
  app.post(
    '/api/sftp/archive-multiple',
    { bodyLimit: SEVERAL_BODY_LIMIT, config: recorded('archived', pathsOf), schema: { body: SeveralFiles, ...stored } },
    async (request, reply) =>
      reply.code(201).send(
        done({
          files: [
            await files.archiveSeveral(
              userOf(request).userId,
              request.body.files.map(({ path }) => path),
              abortOnDisconnect(reply),
            ),
          ],
        }),
      ),
  )
  app.post(
    '/api/sftp/unarchive',
    { config: recorded('extracted'), schema: { body: AtPath, ...stored } },
    async (request, reply) =>
      reply
        .code(201)
        .send(
          done({ files: [await files.unarchive(userOf(request).userId, request.body.path, abortOnDisconnect(reply))] }),
        ),
  )

  app.get(
    '/api/sftp/jobs',
    { config: { access: 'user' }, schema: { response: { 200: FileJobsAnswer } } },
    async (request) => done({ jobs: files.jobs.of(userOf(request).userId) }),
  )
  app.delete(
    '/api/sftp/jobs/:id',
    {
      config: unrecorded,
      schema: { params: z.strictObject({ id: z.uuid() }), body: Nothing, response: { 200: Done } },
    },
    async (request) => {
      files.jobs.cancel(userOf(request).userId, request.params.id)
      return done({})
    },
  )
}

/** Files may come from any user: a browser must save them, never render them in our origin (security 20). */
function asAttachment(reply: FastifyReply, name: string): FastifyReply {
  return reply
    .header('content-disposition', contentDisposition(name.toWellFormed()))
    .header('content-security-policy', 'sandbox')
}

/** Sends the file or the requested range (RFC 9110 §13.1.5, §14, §15.5.17), so that a download can resume. */
async function sendFile(request: FastifyRequest, reply: FastifyReply, file: FileDownload): Promise<FastifyReply> {
  const { name, size } = file
  const modified = new Date(file.modifyTime).toUTCString()
  const ifRange = request.headers['if-range']
  const range = ifRange === undefined || ifRange === modified ? byteRangeOf(request.headers.range, size) : undefined
  if (range === 'unsatisfiable' || size === 0) await file.close()
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`)
    throw new AppError('RANGE_NOT_SATISFIABLE', `The file ends after ${size} bytes.`)
  }
  asAttachment(reply, name)
    .type('application/octet-stream')
    .header('accept-ranges', 'bytes')
    .header('last-modified', modified)
  if (size === 0) return reply.send(Buffer.alloc(0))
  const { start, end } = range ?? { start: 0, end: size - 1 }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
  const length = end - start + 1
  const content = file.stream(start, end)
  // The file was truncated meanwhile: abort, because the announced length cannot be sent.
  content.once('end', () => {
    if (content.bytesRead < length) request.raw.destroy()
  })
  return reply.header('content-length', length).send(content)
}

/** Weak comparison with `If-None-Match` (RFC 9110 §13.1.2): a proxy that compresses makes an ETag weak. */
function matchesETag(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false
}

/** A short description of the selected paths for the activity log. */
function pathsOf({ body }: FastifyRequest): string | undefined {
  const files = SeveralFiles.safeParse(body).data?.files
  if (!files) return undefined
  const [first] = files
  return files.length === 1 ? first?.path : `${files.length} entries beginning with ${first?.path ?? SHARED_ROOT}`
}

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Done, Nothing } from '../../contract/envelope'
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
} from '../../contract/file'
import type { DownloadTickets } from '../accounts/downloadTickets'
import { AppError } from '../errors'
import type { Files } from '../share/files'
import type { OpenedFile } from '../share/downloads'
import { bytesOf, joined } from '../share/entries'
import { createFairTurns } from '../share/fairTurns'
import { SHARED_ROOT } from '../share/paths'
import { namesOf, wirePathOf } from '../share/wirePath'
import { userOf } from './access'
import { fieldOf } from './activity'
import type { AnswersUnderWay } from './answersUnderWay'
import { byteRangeOf } from './byteRange'
import { done } from './envelope'
import { hangUpOf } from './hangUp'
import type { Router } from './router'
import { createZipsUnderWay } from './zipsUnderWay'

export interface FileRouteParts {
  files: Files
  tickets: DownloadTickets
  /** Of the deployment whose directory this is or is within; null for none. */
  deploymentTypeIndexAt: (path: string) => Promise<number | null>
  answers: AnswersUnderWay
}

/** File contents may be longer than other bodies: 5 MiB of text, as JSON writes it. In bytes. */
const CONTENT_BODY_LIMIT = 32 * 2 ** 20
/** So may selections: the ten thousand files that one may name, each with 800 bytes for its path and its name. In bytes. */
const SEVERAL_BODY_LIMIT = 8 * 2 ** 20
/** In bytes. */
const LONG_LISTING = 2 ** 20

/** Product §7, Files, but uploads; and of our own tickets and jobs. */
export function fileRoutes(app: Router, { files, tickets, deploymentTypeIndexAt, answers }: FileRouteParts): void {
  const reading = createFairTurns()
  const zips = createZipsUnderWay()
  const quiet = { access: 'user', activity: false } as const
  const acting = (action: string, subject: (request: FastifyRequest) => string | undefined = fieldOf('body', 'path')) =>
    ({ access: 'user', activity: { kind: 'file', action, subject } }) as const

  app.get(
    '/api/sftp/files',
    { config: { access: 'user' }, schema: { querystring: AtPath } },
    async (request, reply) => {
      const { path } = request.query
      // First of all: what fails after the other work has begun would leave that one's failure to nobody.
      const wirePath = wirePathOf(namesOf(path))
      const listed = files.listing.list(path).then((entries) => {
        const length = bytesOf(entries)
        // A long one is not copied for each client, and counts once for all of them. Short ones count like every answer.
        const isLong = length > LONG_LISTING
        if (isLong) answers.hold(request, reply, entries.json, length)
        return { json: entries.json, isLong }
      })
      const [{ json, isLong }, typeIndex] = await Promise.all([listed, deploymentTypeIndexAt(wirePath)])
      // FilesAnswer, put together from what the listing processes have written: a hundred thousand entries are not parsed again.
      const parts = [
        Buffer.from('{"success":true,"data":{"files":['),
        ...joined(json),
        Buffer.from(`],"deploymentTypeIndex":${typeIndex}}}`),
      ]
      // A client that has the same listing already is told so (RFC 9110 §13.1.2): it is no refresh.
      const etag = `"${parts.reduce((hash, part) => hash.update(part), createHash('sha1')).digest('base64url')}"`
      reply.header('etag', etag)
      if (isAmong(request.headers['if-none-match'], etag)) return reply.code(304).send()
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
      // Some at a time: each takes its whole content, in more than one form, before the answer can be counted.
      const end = await reading.turn(userOf(request).userId, hangUpOf(reply))
      try {
        return done(await files.contents.read(request.query.path))
      } finally {
        end()
      }
    },
  )

  app.patch(
    '/api/sftp/file/content',
    {
      bodyLimit: CONTENT_BODY_LIMIT,
      config: acting('saved file'),
      schema: { body: SaveFile, response: { 200: SaveFileAnswer } },
    },
    async ({ body }) => done({ modifyTime: await files.contents.save(body) }),
  )

  app.post(
    '/api/sftp/file',
    { config: acting('created file'), schema: { body: CreateFile, response: { 201: Done } } },
    async ({ body }, reply) => {
      await files.changes.createFile(body.path)
      return reply.code(201).send(done({}))
    },
  )

  app.post(
    '/api/sftp/directory',
    { config: acting('created directory'), schema: { body: AtPath, response: { 201: Done } } },
    async ({ body }, reply) => {
      await files.changes.createDirectory(body.path)
      return reply.code(201).send(done({}))
    },
  )

  const deleting = (what: string) => ({
    config: acting(`deleted ${what}`, fieldOf('query', 'path')),
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
    { config: acting('moved', moved), schema: { body: MoveFile, response: { 200: Done } } },
    async ({ body }) => {
      await files.changes.move(body.sourcePath, body.targetPath)
      return done({})
    },
  )

  app.post(
    '/api/sftp/download-ticket',
    { config: quiet, schema: { body: AtPath, response: { 200: DownloadTicketAnswer } } },
    async (request) => done({ token: await tickets.issue(userOf(request), wirePathOf(namesOf(request.body.path))) }),
  )

  // Whoever holds the ticket: an address that a browser opens carries no header.
  app.get(
    '/api/sftp/download',
    // A look at its header alone (HEAD) would use up the ticket.
    {
      exposeHeadRoute: false,
      config: { access: 'public', activity: { kind: 'file', action: 'downloaded', subject: fieldOf('query', 'path') } },
      schema: { querystring: DownloadFile },
    },
    async (request, reply) => {
      const { path, token } = request.query
      request.activityActor = (await tickets.take(token, wirePathOf(namesOf(path)))).username
      return sendFile(request, reply, await files.downloads.file(path))
    },
  )

  app.post(
    '/api/sftp/download-multiple',
    { bodyLimit: SEVERAL_BODY_LIMIT, config: acting('downloaded', pathsOf), schema: { body: SeveralFiles } },
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
    { config: acting('archived'), schema: { body: AtPath, ...stored } },
    async (request, reply) =>
      reply
        .code(201)
        .send(done({ files: [await files.archive(userOf(request).userId, request.body.path, hangUpOf(reply))] })),
  )
  app.post(
    '/api/sftp/archive-multiple',
    { bodyLimit: SEVERAL_BODY_LIMIT, config: acting('archived', pathsOf), schema: { body: SeveralFiles, ...stored } },
    async (request, reply) =>
      reply.code(201).send(
        done({
          files: [
            await files.archiveSeveral(
              userOf(request).userId,
              request.body.files.map(({ path }) => path),
              hangUpOf(reply),
            ),
          ],
        }),
      ),
  )
  app.post(
    '/api/sftp/unarchive',
    { config: acting('extracted'), schema: { body: AtPath, ...stored } },
    async (request, reply) =>
      reply
        .code(201)
        .send(done({ files: [await files.unarchive(userOf(request).userId, request.body.path, hangUpOf(reply))] })),
  )

  app.get(
    '/api/sftp/jobs',
    { config: { access: 'user' }, schema: { response: { 200: FileJobsAnswer } } },
    async (request) => done({ jobs: files.jobs.of(userOf(request).userId) }),
  )
  app.delete(
    '/api/sftp/jobs/:id',
    { config: quiet, schema: { params: z.strictObject({ id: z.uuid() }), body: Nothing, response: { 200: Done } } },
    async (request) => {
      files.jobs.cancel(userOf(request).userId, request.params.id)
      return done({})
    },
  )
}

/** What is stored here was made by anybody: it is saved, never shown, under no origin (security 20). */
function asAttachment(reply: FastifyReply, name: string): FastifyReply {
  return reply
    .header('content-disposition', contentDisposition(name.toWellFormed()))
    .header('content-security-policy', 'sandbox')
}

/** Whole, or the range that was asked for (RFC 9110 §13.1.5, §14, §15.5.17), so that an interrupted download goes on where it stopped. */
async function sendFile(request: FastifyRequest, reply: FastifyReply, file: OpenedFile): Promise<FastifyReply> {
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
  // Became shorter meanwhile: who waits for the rest shall know that it does not come.
  content.once('end', () => {
    if (content.bytesRead < length) request.raw.destroy()
  })
  return reply.header('content-length', length).send(content)
}

/** Whether `If-None-Match` names an ETag, by weak comparison (RFC 9110 §13.1.2): a proxy that compresses makes it weak. */
function isAmong(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false
}

/** As many as fit in a line. */
function pathsOf({ body }: FastifyRequest): string | undefined {
  const files = SeveralFiles.safeParse(body).data?.files
  if (!files) return undefined
  const [first] = files
  return files.length === 1 ? first?.path : `${files.length} entries beginning with ${first?.path ?? SHARED_ROOT}`
}

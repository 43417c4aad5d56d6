import type { FastifyRequest } from 'fastify'
import { Done, Nothing } from '../../../contract/envelope'
import { AtPath, CreateFile, FileContentResponse, MoveFile, SaveFile, SaveFileResponse } from '../../../contract/file'
import { createFairQueue } from '../../concurrency/fairQueue'
import { createKeyedLimit } from '../../concurrency/keyedLimit'
import type { Files } from '../../share/files'
import { abortOnDisconnect } from '../abortSignals'
import { presentUserOf, userOf } from '../access'
import { fieldOf } from '../activity'
import { done } from '../envelope'
import { call } from '../openapi/call'
import type { Router } from '../router'
import { archiveRoutes, type ArchiveRouteParts } from './archives'
import { downloadRoutes, type DownloadRouteParts } from './downloads'
import { forFiles, recordedFileRoute } from './fileRouteConfig'
import { listingRoute, type ListingRouteParts } from './listing'

export type FileRouteParts = DownloadRouteParts & ListingRouteParts & ArchiveRouteParts

/** In bytes. File contents may be 5 MiB of text, which JSON escapes may enlarge. */
const CONTENT_BODY_LIMIT = 32 * 2 ** 20
/**
 * Limit of concurrent changes per user. The removal of a large directory takes minutes, and replicas have few locks for
 * all users.
 */
const CHANGES_PER_USER = 4

/** Runs a change with the user's present rights, once fewer than CHANGES_PER_USER others are in progress. */
type InTurn = <Result>(
  request: FastifyRequest,
  change: (files: Pick<Files, 'textFiles' | 'changes'>) => Promise<Result>,
) => Promise<Result>

/** Adds all calls for files: those of product §7 and our own download tickets and jobs, without uploads. */
export function fileRoutes(app: Router, parts: FileRouteParts): void {
  const limit = createKeyedLimit<number>(CHANGES_PER_USER)
  const inTurn: InTurn = (request, change) =>
    limit(userOf(request).userId, async () => {
      const { files } = await parts.fileAccess.of(await presentUserOf(request))
      return change(files)
    })
  listingRoute(app, parts)
  contentRoutes(app, parts, inTurn)
  changeRoutes(app, inTurn)
  downloadRoutes(app, parts)
  archiveRoutes(app, parts)
}

function contentRoutes(app: Router, { fileAccess }: FileRouteParts, inTurn: InTurn): void {
  const readQueue = createFairQueue()

  app.get(
    '/api/sftp/file/content',
    {
      config: { access: forFiles },
      schema: {
        ...call('readFile', 'Read a text file', 'NOT_FOUND', 'CONFLICT', 'TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'),
        querystring: AtPath,
        response: { 200: FileContentResponse },
      },
    },
    async (request, reply) => {
      // Few concurrent reads: each holds its content in several forms before the response is counted.
      const release = await readQueue.acquire(userOf(request).userId, abortOnDisconnect(reply))
      try {
        const { files } = await fileAccess.of(await presentUserOf(request))
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
      config: recordedFileRoute('saved file'),
      schema: {
        ...call('saveFile', 'Save a text file', 'NOT_FOUND', 'CONFLICT', 'UNSUPPORTED_MEDIA_TYPE'),
        body: SaveFile,
        response: { 200: SaveFileResponse },
      },
    },
    async (request) => done({ modifyTime: await inTurn(request, ({ textFiles }) => textFiles.save(request.body)) }),
  )
}

function changeRoutes(app: Router, inTurn: InTurn): void {
  app.post(
    '/api/sftp/file',
    {
      config: recordedFileRoute('created file'),
      schema: {
        ...call('createFile', 'Create an empty file', 'NOT_FOUND', 'NAME_TAKEN', 'CONFLICT'),
        body: CreateFile,
        response: { 201: Done },
      },
    },
    async (request, reply) => {
      await inTurn(request, ({ changes }) => changes.createFile(request.body.path))
      return reply.code(201).send(done({}))
    },
  )

  app.post(
    '/api/sftp/directory',
    {
      config: recordedFileRoute('created directory'),
      schema: {
        ...call('createDirectory', 'Create a directory', 'NOT_FOUND', 'NAME_TAKEN', 'CONFLICT'),
        body: AtPath,
        response: { 201: Done },
      },
    },
    async (request, reply) => {
      await inTurn(request, ({ changes }) => changes.createDirectory(request.body.path))
      return reply.code(201).send(done({}))
    },
  )

  const deleting = (what: string, described: ReturnType<typeof call>) => ({
    config: recordedFileRoute(`deleted ${what}`, fieldOf('query', 'path')),
    schema: { ...described, querystring: AtPath, body: Nothing, response: { 200: Done } },
  })
  app.delete(
    '/api/sftp/file',
    deleting('file', call('deleteFile', 'Delete a file', 'NOT_FOUND', 'CONFLICT')),
    async (request) => {
      await inTurn(request, ({ changes }) => changes.removeFile(request.query.path))
      return done({})
    },
  )
  app.delete(
    '/api/sftp/directory',
    deleting('directory', call('deleteDirectory', 'Delete a directory with its contents', 'NOT_FOUND', 'CONFLICT')),
    async (request) => {
      await inTurn(request, ({ changes }) => changes.removeDirectory(request.query.path))
      return done({})
    },
  )

  const moved = (request: FastifyRequest) =>
    `${fieldOf('body', 'sourcePath')(request) ?? ''} to ${fieldOf('body', 'targetPath')(request) ?? ''}`
  app.post(
    '/api/sftp/move',
    {
      config: recordedFileRoute('moved', moved),
      schema: {
        ...call('moveFile', 'Move or rename a file or directory', 'NOT_FOUND', 'NAME_TAKEN', 'CONFLICT'),
        body: MoveFile,
        response: { 200: Done },
      },
    },
    async (request) => {
      const { sourcePath, targetPath } = request.body
      await inTurn(request, ({ changes }) => changes.move(sourcePath, targetPath))
      return done({})
    },
  )
}

import { z } from 'zod'
import { Done, Nothing } from '../../../contract/envelope'
import { AtPath, FileJobsAnswer, SeveralFiles, StoredFiles } from '../../../contract/file'
import type { Files } from '../../share/files'
import type { FileJobs } from '../../state/fileJobs'
import { abortOnDisconnect } from '../abortSignals'
import { userOf } from '../access'
import { done } from '../envelope'
import type { Router } from '../router'
import { pathsOf, recordedFileRoute, SELECTION_BODY_LIMIT, unrecordedFileRoute } from './fileRouteConfig'

/** Archives of product §7, and our own jobs, which show and cancel the work on them. */
export function archiveRoutes(app: Router, { files, fileJobs }: { files: Files; fileJobs: FileJobs }): void {
  const stored = { response: { 201: StoredFiles } }
  app.post(
    '/api/sftp/archive',
    { config: recordedFileRoute('archived'), schema: { body: AtPath, ...stored } },
    async (request, reply) =>
      reply
        .code(201)
        .send(
          done({ files: [await files.archive(userOf(request).userId, request.body.path, abortOnDisconnect(reply))] }),
        ),
  )
  app.post(
    '/api/sftp/archive-multiple',
    {
      bodyLimit: SELECTION_BODY_LIMIT,
      config: recordedFileRoute('archived', pathsOf),
      schema: { body: SeveralFiles, ...stored },
    },
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
    { config: recordedFileRoute('extracted'), schema: { body: AtPath, ...stored } },
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
    async (request) => done({ jobs: await fileJobs.of(userOf(request).userId) }),
  )
  app.delete(
    '/api/sftp/jobs/:id',
    {
      config: unrecordedFileRoute,
      schema: { params: z.strictObject({ id: z.uuid() }), body: Nothing, response: { 200: Done } },
    },
    async (request) => {
      await fileJobs.cancel(userOf(request).userId, request.params.id)
      return done({})
    },
  )
}

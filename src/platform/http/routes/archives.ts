import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Done, Nothing } from '../../../contract/envelope'
import type { ErrorCode } from '../../../contract/errors'
import { AtPath, FileJobsResponse, type FileJob, SeveralFiles, StoredFiles } from '../../../contract/file'
import type { Caller } from '../../caller'
import type { FileCalls } from '../../share/files'
import { rightsLost, type JobSignals } from '../../share/transfers/jobs'
import type { FileJobs } from '../../state/fileJobs'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { abortOnDisconnect } from '../abortSignals'
import { userOf } from '../access'
import type { ActiveWork } from '../activeWork'
import type { FileAccess } from '../fileAccess'
import { done } from '../envelope'
import { call } from '../openapi/call'
import type { Router } from '../router'
import { forFiles, pathsOf, recordedFileRoute, SELECTION_BODY_LIMIT, unrecordedFileRoute } from './fileRouteConfig'

type Job = (files: FileCalls, userId: number, signals: JobSignals) => Promise<{ name: string; path: string }>

export interface ArchiveRouteParts {
  fileAccess: FileAccess
  fileJobs: FileJobs
  activeWork: ActiveWork
}

/** Adds the calls for archives (product §7) and for their jobs, which can be listed and cancelled (our extra). */
export function archiveRoutes(app: Router, parts: ArchiveRouteParts): void {
  packingRoutes(app, parts)
  jobRoutes(app, parts)
}

function packingRoutes(app: Router, { fileAccess, activeWork }: ArchiveRouteParts): void {
  /** Runs a job with the part of the shared area that the caller may use. */
  async function run(request: FastifyRequest, reply: FastifyReply, job: Job): Promise<FastifyReply> {
    const user = userOf(request)
    const { files, limitTo } = await fileAccess.follow(user)
    const lost = new AbortController()
    const forget = activeWork.add(user, { limitTo, end: () => lost.abort(rightsLost()) })
    const signals = { disconnected: abortOnDisconnect(reply), rightsLost: lost.signal }
    try {
      return await reply.code(201).send(done({ files: [await job(files, user.userId, signals)] }))
    } finally {
      forget()
    }
  }
  const packing = (id: string, summary: string, ...codes: ErrorCode[]) => ({
    ...call(id, summary, 'NOT_FOUND', 'NAME_TAKEN', 'CONFLICT', 'CANCELLED', 'TOO_LARGE', ...codes),
    response: { 201: StoredFiles },
  })

  app.post(
    '/api/sftp/archive',
    {
      config: recordedFileRoute('archived'),
      schema: { ...packing('archive', 'Pack a file or directory into an archive beside it'), body: AtPath },
    },
    async (request, reply) =>
      run(request, reply, (files, userId, signals) => files.archive(userId, request.body.path, signals)),
  )
  app.post(
    '/api/sftp/archive-multiple',
    {
      bodyLimit: SELECTION_BODY_LIMIT,
      config: recordedFileRoute('archived', pathsOf),
      schema: {
        ...packing('archiveSeveral', 'Pack files and directories of one directory into an archive'),
        body: SeveralFiles,
      },
    },
    async (request, reply) => {
      const paths = request.body.files.map(({ path }) => path)
      return run(request, reply, (files, userId, signals) => files.archiveSeveral(userId, paths, signals))
    },
  )
  app.post(
    '/api/sftp/unarchive',
    {
      config: recordedFileRoute('extracted'),
      schema: {
        ...packing('unarchive', 'Unpack an archive beside it', 'UNSUPPORTED_MEDIA_TYPE'),
        body: AtPath,
      },
    },
    async (request, reply) =>
      run(request, reply, (files, userId, signals) => files.unarchive(userId, request.body.path, signals)),
  )
}

function jobRoutes(app: Router, { fileAccess, fileJobs }: ArchiveRouteParts): void {
  /** The user's jobs; for an API key that is limited to deployments, only those in their directories. */
  async function jobsOf(user: Caller): Promise<FileJob[]> {
    const [jobs, { reach }] = await Promise.all([fileJobs.of(user.userId), fileAccess.of(user)])
    if (!reach) return jobs
    return jobs.filter(({ paths }) => paths.every((path) => reach.holds(path.slice(SHARED_ROOT.length))))
  }

  app.get(
    '/api/sftp/jobs',
    {
      config: { access: forFiles },
      schema: { ...call('listFileJobs', 'List the own archives in progress'), response: { 200: FileJobsResponse } },
    },
    async (request) => done({ jobs: await jobsOf(userOf(request)) }),
  )
  app.delete(
    '/api/sftp/jobs/:id',
    {
      config: unrecordedFileRoute,
      schema: {
        ...call('cancelFileJob', 'Cancel one of the own archives in progress', 'NOT_FOUND'),
        params: z.strictObject({ id: z.uuid() }),
        body: Nothing,
        response: { 200: Done },
      },
    },
    async (request) => {
      const user = userOf(request)
      const { id } = request.params
      const isKnown = (await jobsOf(user)).some((job) => job.id === id)
      // For a job that the caller must not know of, the service answers as for a missing one.
      await fileJobs.cancel(user.userId, isKnown ? id : randomUUID())
      return done({})
    },
  )
}

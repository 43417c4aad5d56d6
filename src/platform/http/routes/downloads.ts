import { create as contentDisposition } from 'content-disposition'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AtPath, DownloadFile, DownloadTicketResponse, SeveralFiles } from '../../../contract/file'
import { requireScope, type Caller } from '../../caller'
import { networkOf } from '../../accounts/clientAddress'
import type { DownloadTickets } from '../../accounts/downloadTickets'
import { AppError } from '../../errors'
import { formatPath, parsePath } from '../../share/apiPath'
import type { FileCalls } from '../../share/files'
import type { FileDownload } from '../../share/transfers/downloads'
import { userOf } from '../access'
import type { ActiveWork } from '../activeWork'
import type { FileAccess } from '../fileAccess'
import { fieldOf } from '../activity'
import { byteRangeOf } from '../byteRange'
import { createCallLimit } from '../limits/callLimit'
import { done } from '../envelope'
import { bytesOf, call } from '../openapi/call'
import { onResponseEnd, throwIfDisconnected } from '../responseEvents'
import type { Router } from '../router'
import { createZipLimit } from '../limits/zipLimit'
import { pathsOf, recordedFileRoute, SELECTION_BODY_LIMIT, unrecordedFileRoute } from './fileRouteConfig'

export interface DownloadRouteParts {
  fileAccess: FileAccess
  activeWork: ActiveWork
  tickets: DownloadTickets
}

/** Limit of concurrent ticket lookups per network. */
const TICKETS_AT_A_TIME = 16

/** Adds the calls for downloads (product §7) and their tickets (our extra). */
export function downloadRoutes(app: Router, { fileAccess, activeWork, tickets }: DownloadRouteParts): void {
  const zips = createZipLimit()
  const limit = createCallLimit(TICKETS_AT_A_TIME)

  /** The files of a caller. The response is aborted when the caller loses the right to a path that it has read. */
  async function filesOf(caller: Caller, request: FastifyRequest, reply: FastifyReply): Promise<FileCalls> {
    const { files, limitTo } = await fileAccess.follow(caller)
    throwIfDisconnected(request)
    const forget = activeWork.add(caller, { limitTo, end: () => reply.raw.destroy() })
    onResponseEnd(request, reply, forget)
    return files
  }

  app.post(
    '/api/sftp/download-ticket',
    {
      config: unrecordedFileRoute,
      schema: {
        ...call('createDownloadTicket', 'Create a ticket for one download of a file', 'NOT_FOUND', 'CONFLICT'),
        body: AtPath,
        response: { 200: DownloadTicketResponse },
      },
    },
    async (request) => {
      const user = userOf(request)
      const path = formatPath(parsePath(request.body.path))
      const { files, reach } = await fileAccess.of(user)
      // Refusing only the files of others would reveal that they exist, so a missing file gets no ticket either.
      if (reach) await (await files.downloads.file(path)).close()
      return done({ token: await tickets.issue(user, path) })
    },
  )

  // Public, because a download address that a browser opens carries no header: the ticket authorizes it.
  app.get(
    '/api/sftp/download',
    // A HEAD request would use up the ticket.
    {
      exposeHeadRoute: false,
      config: { access: 'public', activity: { kind: 'file', action: 'downloaded', subject: fieldOf('query', 'path') } },
      schema: {
        ...call(
          'download',
          'Download a file with a ticket',
          'NO_SESSION',
          'NOT_ALLOWED',
          'NOT_FOUND',
          'CONFLICT',
          'RANGE_NOT_SATISFIABLE',
        ),
        querystring: DownloadFile,
        rawResponses: { 200: bytesOf('application/octet-stream'), 206: bytesOf('application/octet-stream') },
      },
    },
    async (request, reply) => {
      const { path, token } = request.query
      const asked = formatPath(parsePath(path))
      const user = await limit(networkOf(request.ip), () => tickets.take(token, asked))
      request.activityActor = user.username
      // The caller's present rights, which may have changed since the ticket was issued.
      requireScope(user, 'files')
      const files = await filesOf(user, request, reply)
      return sendFile(request, reply, await files.downloads.file(path))
    },
  )

  app.post(
    '/api/sftp/download-multiple',
    {
      bodyLimit: SELECTION_BODY_LIMIT,
      config: recordedFileRoute('downloaded', pathsOf),
      schema: {
        ...call(
          'downloadSeveral',
          'Download files and directories as a ZIP archive',
          'NOT_FOUND',
          'CONFLICT',
          'NAME_TAKEN',
        ),
        body: SeveralFiles,
        rawResponses: { 200: bytesOf('application/zip') },
      },
    },
    async (request, reply) => {
      const { body } = request
      zips.begin(request, reply)
      const user = userOf(request)
      const files = await filesOf(user, request, reply)
      const [first] = body.files
      const name = body.files.length === 1 && first ? `${first.name}.zip` : 'files.zip'
      return asAttachment(reply, name)
        .type('application/zip')
        .send(
          await files.downloads.zip(
            user.userId,
            body.files.map(({ path }) => path),
          ),
        )
    },
  )
}

/** Files may come from any user: a browser must save them, never render them in our origin (security 20). */
function asAttachment(reply: FastifyReply, name: string): FastifyReply {
  return reply.header('content-disposition', contentDisposition(name)).header('content-security-policy', 'sandbox')
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
  // The file was truncated during the download: abort, because the announced length cannot be sent.
  content.once('end', () => {
    if (content.bytesRead < length) request.raw.destroy()
  })
  return reply.header('content-length', length).send(content)
}

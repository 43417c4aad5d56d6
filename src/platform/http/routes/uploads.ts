import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { OnConflict, SharedPath, StoredFiles, UploadNames } from '../../../contract/file'
import { AppError, errorCodeOf } from '../../errors'
import { rightsLost } from '../../share/transfers/jobs'
import type { Upload } from '../../share/transfers/uploads'
import { presentUserOf, userOf } from '../access'
import { done } from '../envelope'
import type { ActiveWork } from '../activeWork'
import type { FileAccess } from '../fileAccess'
import { bytes, call } from '../openapi/call'
import type { Router } from '../router'
import { forFiles } from './fileRouteConfig'
import { enforceUploadRate, type MinimumRate } from '../limits/uploadRate'

export interface UploadRouteParts {
  fileAccess: FileAccess
  activeWork: ActiveWork
  /** In bytes, for one file. */
  uploadLimit: number
}

/** The fields of the form, for the description of the call: the handler reads them itself. */
const UploadForm = z.object({
  path: SharedPath,
  onConflict: OnConflict.optional(),
  names: z.string().optional(),
  files: z.array(bytes).min(1),
})

/** Interval of the checks for a stalled parser. */
const STALL_CHECK_MS = 500
const STALL_CHECKS = 3
const MAX_FILES = 1000
/** Bytes that the parser keeps beside those that wait for the disk (`writeStream`). */
const FILE_BUFFER = 2 ** 16
const FIELDS = ['path', 'onConflict', 'names']
/** In bytes: the names of as many files as a form may have, each of 255 bytes. */
const FIELD_LIMIT = 2 ** 19

/**
 * `POST /api/sftp/upload`, multipart/form-data (RFC 7578): the fields `path` and, our extras, `onConflict` and `names`,
 * and the files as `files`. Fields may follow the files, as some clients send them, but then the files must be moved.
 * `names` must come first: browsers percent-encode quotes and line ends in a part's file name, ambiguously.
 * @param minimumRate for tests
 */
export async function uploadRoutes(
  app: FastifyInstance,
  { fileAccess, activeWork, uploadLimit }: UploadRouteParts,
  minimumRate?: MinimumRate,
): Promise<void> {
  await app.register(async (scope) => {
    await scope.register(multipart, {
      fileHwm: FILE_BUFFER,
      limits: {
        fileSize: uploadLimit,
        files: MAX_FILES,
        fields: 10,
        fieldSize: FIELD_LIMIT,
        fieldNameSize: 100,
        parts: MAX_FILES + 10,
        headerPairs: 50,
      },
    })
    const route = scope as unknown as Router
    route.post(
      '/api/sftp/upload',
      {
        config: {
          access: forFiles,
          activity: { kind: 'file', action: 'uploaded', subject: ({ activitySubject }) => activitySubject },
        },
        schema: {
          ...call('upload', 'Upload files into a directory', 'NOT_FOUND', 'NAME_TAKEN', 'CONFLICT'),
          consumes: ['multipart/form-data'],
          form: UploadForm,
          response: { 201: StoredFiles },
        },
      },
      async (request, reply) => {
        const user = userOf(request)
        const { files, reach, limitTo } = await fileAccess.follow(user)
        // The parser would wait forever for a connection that has closed already.
        if (request.raw.closed) throw new AppError('INVALID_INPUT', 'The connection was closed.')
        if (!request.isMultipart()) throw new AppError('INVALID_INPUT', 'The Content-Type must be multipart/form-data.')
        const { socket } = request
        const destroySocket = () => socket.destroy()
        const { tooSlow, stop } = enforceUploadRate(request.raw, minimumRate)
        const ended = new AbortController()
        ended.signal.addEventListener('abort', destroySocket)
        const forget = activeWork.add(user, { limitTo, end: () => ended.abort(rightsLost()) })
        const upload = files.upload()
        try {
          const { path, onConflict } = await receive(
            request,
            upload,
            { uploadLimit, needsPathFirst: reach !== undefined },
            tooSlow,
          )
          ended.signal.throwIfAborted()
          // Flushing to the disk may take minutes without traffic.
          stop()
          // The path may lead through a link to files that the user no longer has the right to.
          const { files: present } = await fileAccess.of(await presentUserOf(request))
          const stored = await upload.store(path, onConflict, present.jail)
          request.activitySubject = stored
            .map((file) => file.path)
            .join(', ')
            .slice(0, 500)
          return await reply.code(201).send(done({ files: stored }))
        } catch (error) {
          await upload.discard()
          // The rest of the body is discarded (`drainRequest`), not parsed.
          reply.header('connection', 'close')
          throw toFormError(error, uploadLimit)
        } finally {
          stop()
          forget()
        }
      },
    )
  })
}

async function receive(
  request: FastifyRequest,
  upload: Upload,
  { uploadLimit, needsPathFirst }: { uploadLimit: number; needsPathFirst: boolean },
  tooSlow: AbortSignal,
): Promise<{ path: string; onConflict: OnConflict }> {
  const fields: Partial<Record<string, string>> = {}
  let names: string[] | undefined
  let count = 0
  for await (const part of partsOf(request, uploadLimit, tooSlow)) {
    // Despite its type, the name is undefined for a part without one.
    if ((part.fieldname as string | undefined) === undefined)
      throw new AppError('INVALID_INPUT', 'The form is not valid: every part must have a field name.')
    if (part.type === 'field') {
      if (!FIELDS.includes(part.fieldname))
        throw new AppError('INVALID_INPUT', `${part.fieldname}: is not a field of this form`, { field: part.fieldname })
      fields[part.fieldname] = String(part.value)
      // Set now, for the activity log if the upload fails.
      if (part.fieldname === 'path') request.activitySubject = checked(SharedPath, part.value, 'path')
      if (part.fieldname === 'names') {
        if (count > 0) throw new AppError('INVALID_INPUT', 'names: must come before the files', { field: 'names' })
        names = checked(UploadNames, part.value, 'names')
      }
      continue
    }
    if (part.fieldname !== 'files')
      throw new AppError('INVALID_INPUT', `${part.fieldname}: is not a field of this form. Send files as "files"`, {
        field: part.fieldname,
      })
    // Despite its type, the name is undefined for a part that has only a media type.
    const name = names ? names[count] : (part.filename as string | undefined)
    if (name === undefined)
      throw new AppError(
        'INVALID_INPUT',
        names ? 'names: is shorter than the list of files' : 'files: every file must have a name',
        { field: names ? 'names' : 'files' },
      )
    // The parser replaces bytes that are not UTF-8, so two names may become one, and one file would replace the other.
    // The strings in `names` are valid Unicode, so U+FFFD belongs to the name.
    if (!names && name.includes('\ufffd'))
      throw new AppError('INVALID_INPUT', 'files: the names must be UTF-8', { field: 'files' })
    if (needsPathFirst && fields.path === undefined)
      throw new AppError('INVALID_INPUT', 'path: must come before the files', { field: 'path' })
    await receiveFile(upload, name, part.file, fields.path, tooSlow)
    if (part.file.truncated) throw tooLarge(uploadLimit)
    count += 1
  }
  if (count === 0) throw new AppError('INVALID_INPUT', 'files: is missing', { field: 'files' })
  if (names && names.length > count)
    throw new AppError('INVALID_INPUT', 'names: is longer than the list of files', { field: 'names' })
  return {
    path: checked(SharedPath, fields.path, 'path'),
    onConflict: checked(OnConflict, fields.onConflict ?? 'replace', 'onConflict'),
  }
}

/** As `upload.receive`. @throws also the signal's reason */
async function receiveFile(
  upload: Upload,
  name: string,
  content: Readable,
  path: string | undefined,
  tooSlow: AbortSignal,
): Promise<void> {
  const destroyStream = () => content.destroy(tooSlow.reason as Error)
  tooSlow.addEventListener('abort', destroyStream)
  try {
    await upload.receive(name, content, path)
    tooSlow.throwIfAborted()
  } finally {
    tooSlow.removeEventListener('abort', destroyStream)
  }
}

/** Any failure of the parser is an invalid form. */
async function* partsOf(
  request: FastifyRequest,
  uploadLimit: number,
  tooSlow: AbortSignal,
): AsyncGenerator<MultipartFile | MultipartValue> {
  let parts: AsyncIterableIterator<MultipartFile | MultipartValue>
  try {
    parts = request.parts() as typeof parts
  } catch {
    throw invalidForm()
  }
  for (;;) {
    const next = await rejectIfStalled(request.raw, parts.next(), tooSlow).catch((error: unknown) => {
      if (error instanceof AppError) throw error
      throw errorCodeOf(error)?.startsWith('FST_') ? toFormError(error, uploadLimit) : invalidForm()
    })
    if (next.done) return
    yield next.value
  }
}

/**
 * The parser waits forever, without an error, for a long part that it skips: one without a header, with a disposition
 * other than `form-data`, or with too many header lines. The form is refused when for `STALL_CHECKS` checks in a row
 * the parser reads nothing (the request is paused, or was read completely) and no next part arrives.
 */
async function rejectIfStalled<Part>(raw: IncomingMessage, next: Promise<Part>, tooSlow: AbortSignal): Promise<Part> {
  let checks = 0
  let seen = -1
  let timer: NodeJS.Timeout | undefined
  let onSlow = () => {}
  const stalled = new Promise<never>((_resolve, reject) => {
    tooSlow.addEventListener('abort', (onSlow = () => reject(tooSlow.reason as Error)))
    timer = setInterval(() => {
      const { bytesRead } = raw.socket
      checks = bytesRead === seen && (raw.readableEnded || raw.isPaused()) ? checks + 1 : 0
      seen = bytesRead
      if (checks >= STALL_CHECKS) reject(invalidForm())
    }, STALL_CHECK_MS)
  })
  try {
    return await Promise.race([next, stalled])
  } finally {
    clearInterval(timer)
    tooSlow.removeEventListener('abort', onSlow)
  }
}

function invalidForm(): AppError {
  return new AppError('INVALID_INPUT', 'The form is incomplete or not valid multipart/form-data.')
}

function checked<Output>(
  schema: { safeParse(value: unknown): { data?: Output; error?: { issues: { message: string }[] } } },
  value: unknown,
  field: string,
): Output {
  const { data, error } = schema.safeParse(value)
  if (error || data === undefined)
    throw new AppError(
      'INVALID_INPUT',
      value === undefined ? `${field}: is missing` : `${field}: ${error?.issues[0]?.message ?? 'is not valid'}`,
      { field },
    )
  return data
}

function tooLarge(limit: number): AppError {
  return new AppError(
    'TOO_LARGE',
    `A file may have at most ${limit % 2 ** 30 === 0 ? `${limit / 2 ** 30} GiB` : `${limit / 2 ** 20} MiB`} (QUARTERDECK_UPLOAD_LIMIT).`,
  )
}

/** Converts a failure of the parser to an AppError. */
function toFormError(error: unknown, uploadLimit: number): unknown {
  if (error instanceof AppError) return error
  const code = errorCodeOf(error) ?? ''
  if (code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge(uploadLimit)
  if (code === 'FST_FIELDS_LIMIT')
    return new AppError('TOO_LARGE', 'The form has too many fields: path, onConflict and names are read, once each.')
  if (/^FST_(?:FILES|PARTS)_LIMIT$/.test(code))
    return new AppError('TOO_LARGE', `An upload may have at most ${MAX_FILES} files.`)
  // An interrupted file fails with a message but no code.
  const broke = error instanceof Error && /Part terminated early|Unexpected end|premature|aborted/i.test(error.message)
  return broke || code.startsWith('FST_') || code === 'ECONNRESET' ? invalidForm() : error
}

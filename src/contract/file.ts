import { z } from 'zod'
import { success } from './envelope'

/** An absolute path under the shared root: `/nfsshare/lobby/server.properties` (decisions §3). */
export const SharedPath = z.string().min(1).max(4096).startsWith('/', 'must be a path that begins with /nfsshare')

export const FileEntry = z.object({
  name: z.string(),
  path: z.string(),
  type: z
    .enum(['d', '-', 'l'])
    .describe('`d` for a directory, `-` for a file, `l` for a link that leads out of the share and cannot be opened.'),
  size: z.number().nonnegative().describe('Bytes.'),
  modifyTime: z.number().describe('Milliseconds since the epoch.'),
  isText: z.boolean().describe('Whether the editor may open it.'),
})
export type FileEntry = z.infer<typeof FileEntry>

export const AtPath = z.strictObject({ path: SharedPath })
export type AtPath = z.infer<typeof AtPath>

export const FilesResponse = success(
  z.object({
    files: z.array(FileEntry),
    deploymentTypeIndex: z
      .number()
      .int()
      .nullable()
      .describe('Type index of the deployment whose directory this is or is in; null if there is none.'),
  }),
)
export type FilesResponse = z.infer<typeof FilesResponse>

export const MoveFile = z.strictObject({ sourcePath: SharedPath, targetPath: SharedPath })
export type MoveFile = z.infer<typeof MoveFile>

/** Body of download-multiple and archive-multiple. */
export const SeveralFiles = z.strictObject({
  files: z
    .array(z.strictObject({ path: SharedPath, name: z.string().min(1).max(255) }))
    .min(1)
    .max(10_000),
})
export type SeveralFiles = z.infer<typeof SeveralFiles>

/** `token` is a ticket or, on other servers, the session's token (decisions §2). If it is missing: 401, not 400. */
export const DownloadFile = z.strictObject({ path: SharedPath, token: z.string().default('') })
export type DownloadFile = z.infer<typeof DownloadFile>

export const DownloadTicketResponse = success(z.object({ token: z.string() }))
export type DownloadTicketResponse = z.infer<typeof DownloadTicketResponse>

/** The encoding of a stored text. The platform keeps it: the console shows it and sends it back. */
export const TextEncoding = z.enum(['utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be', 'windows-1252'])
export type TextEncoding = z.infer<typeof TextEncoding>

/** The content as text; other servers may send bytes (product §7). Our platform adds what a save needs. */
export const FileContentResponse = success(
  z.object({
    content: z.union([z.string(), z.array(z.number().int().min(0).max(255))]),
    /** Our extras. */
    encoding: TextEncoding.optional(),
    modifyTime: z.number().optional().describe('Milliseconds since the epoch.'),
  }),
)
export type FileContentResponse = z.infer<typeof FileContentResponse>

export const SaveFile = z.strictObject({
  path: SharedPath,
  content: z.string(),
  /** Our extra. */
  modifyTime: z
    .number()
    .optional()
    .describe('The time of the file when it was opened. If it has changed since, the save fails with CONFLICT.'),
  /** Our extra. */
  encoding: TextEncoding.optional().describe(
    'Default: UTF-8. If it cannot represent the content, the save fails with INVALID_INPUT.',
  ),
})
export type SaveFile = z.infer<typeof SaveFile>

export const SaveFileResponse = success(
  z.object({ /** The new time of the file; the next save sends it. */ modifyTime: z.number() }),
)
export type SaveFileResponse = z.infer<typeof SaveFileResponse>

/**
 * What an upload does if the name is taken: replace the entry, use the next free name such as `world (2).zip`, or fail
 * with NAME_TAKEN. Form field `onConflict`, preferably before the files. Our extra.
 */
export const OnConflict = z.enum(['replace', 'keepBoth', 'refuse'])
export type OnConflict = z.infer<typeof OnConflict>

/** The file names of an upload as a JSON list, in order. They override the names of the parts. Our extra. */
export const UploadNames = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON list of names' })
      return z.NEVER
    }
  })
  .pipe(z.array(z.string('must be a JSON list of names'), 'must be a JSON list of names'))

/** Response of upload, archive and unarchive: the entries that were created. */
export const StoredFiles = success(z.object({ files: z.array(z.object({ name: z.string(), path: SharedPath })) }))
export type StoredFiles = z.infer<typeof StoredFiles>

/** A long-running call (`GET /api/sftp/jobs`; `DELETE /api/sftp/jobs/{id}` cancels it). Our extra. */
export const FileJob = z.object({
  id: z.string(),
  kind: z.enum(['archive', 'unarchive']),
  paths: z.array(SharedPath).describe('The paths in its call.'),
  done: z.number().nonnegative().describe('Bytes read of the files to pack, or of the archive.'),
  total: z.number().nonnegative().nullable().describe('Bytes; null until known.'),
  entry: z.string().describe('Relative path of the current entry, for display.'),
})
export type FileJob = z.infer<typeof FileJob>

/** The jobs of the signed-in user. */
export const FileJobsResponse = success(z.object({ jobs: z.array(FileJob) }))
export type FileJobsResponse = z.infer<typeof FileJobsResponse>

export const CreateFile = z.strictObject({ path: SharedPath, content: z.literal('') })
export type CreateFile = z.infer<typeof CreateFile>

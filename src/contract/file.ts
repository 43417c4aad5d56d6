import { z } from 'zod'
import { success } from './envelope'

/** Absolute under the shared root, as the wire writes it: `/nfsshare/lobby/server.properties` (decisions §3). */
export const SharedPath = z.string().min(1).max(4096).startsWith('/', 'must be a path that begins with /nfsshare')

export const FileEntry = z.object({
  name: z.string(),
  path: z.string(),
  /** `d` for a directory, `-` for a file, `l` for a link that leads out of the share and cannot be opened. */
  type: z.enum(['d', '-', 'l']),
  /** Bytes. */
  size: z.number().nonnegative(),
  /** Milliseconds since the epoch. */
  modifyTime: z.number(),
  /** Whether the editor may open it. */
  isText: z.boolean(),
})
export type FileEntry = z.infer<typeof FileEntry>

export const AtPath = z.strictObject({ path: SharedPath })
export type AtPath = z.infer<typeof AtPath>

export const FilesAnswer = success(
  z.object({
    files: z.array(FileEntry),
    /** Of the deployment whose directory this is or is within; null for none. */
    deploymentTypeIndex: z.number().int().nullable(),
  }),
)
export type FilesAnswer = z.infer<typeof FilesAnswer>

export const MoveFile = z.strictObject({ sourcePath: SharedPath, targetPath: SharedPath })
export type MoveFile = z.infer<typeof MoveFile>

/** Of download-multiple and archive-multiple. */
export const SeveralFiles = z.strictObject({
  files: z
    .array(z.strictObject({ path: SharedPath, name: z.string().min(1).max(255) }))
    .min(1)
    .max(10_000),
})
export type SeveralFiles = z.infer<typeof SeveralFiles>

/** `token` is a ticket on our platform and the session's token elsewhere (decisions §2). Without one the answer is 401, not 400. */
export const DownloadFile = z.strictObject({ path: SharedPath, token: z.string().default('') })
export type DownloadFile = z.infer<typeof DownloadFile>

export const DownloadTicketAnswer = success(z.object({ token: z.string() }))
export type DownloadTicketAnswer = z.infer<typeof DownloadTicketAnswer>

/** How a text is stored. The platform keeps it as it was: the console shows it and sends it back. */
export const TextEncoding = z.enum(['utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be', 'windows-1252'])
export type TextEncoding = z.infer<typeof TextEncoding>

/** Text; other servers may answer its bytes (product §7). Our platform always answers text, with what it needs to be saved again. */
export const FileContentAnswer = success(
  z.object({
    content: z.union([z.string(), z.array(z.number().int().min(0).max(255))]),
    /** Of the file that was read (our extras). */
    encoding: TextEncoding.optional(),
    /** Milliseconds since the epoch. */
    modifyTime: z.number().optional(),
  }),
)
export type FileContentAnswer = z.infer<typeof FileContentAnswer>

export const SaveFile = z.strictObject({
  path: SharedPath,
  content: z.string(),
  /** Of the file as it was opened: the save is refused with CONFLICT when it changed since (our extra). */
  modifyTime: z.number().optional(),
  /** UTF-8 when absent. One that lacks a character of the content is refused with INVALID_INPUT (our extra). */
  encoding: TextEncoding.optional(),
})
export type SaveFile = z.infer<typeof SaveFile>

export const SaveFileAnswer = success(
  z.object({ /** Of the file as it is now; the next save sends it. */ modifyTime: z.number() }),
)
export type SaveFileAnswer = z.infer<typeof SaveFileAnswer>

/**
 * What an upload does where its name exists (our extra; a form field `onConflict`, best before the files): take its place,
 * take the next free name such as `world (2).zip`, or be refused with NAME_TAKEN.
 */
export const OnConflict = z.enum(['replace', 'keepBoth', 'refuse'])
export type OnConflict = z.infer<typeof OnConflict>

/** Of an upload (our extra): the names of its files, in their order, as a JSON list. Preferred over those of the parts. */
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

/** Of uploads, and of archive and unarchive: what came to be. */
export const StoredFiles = success(z.object({ files: z.array(z.object({ name: z.string(), path: SharedPath })) }))
export type StoredFiles = z.infer<typeof StoredFiles>

/** Work on a tree that takes a while, while its call is open (our extra: `GET /api/sftp/jobs`, `DELETE /api/sftp/jobs/{id}` cancels). */
export const FileJob = z.object({
  id: z.string(),
  kind: z.enum(['archive', 'unarchive']),
  /** The paths its call named. */
  paths: z.array(SharedPath),
  /** Bytes read of what is packed, or of the archive. */
  done: z.number().nonnegative(),
  /** Null until it is known. */
  total: z.number().nonnegative().nullable(),
  /** The entry it is at, relative; for people. */
  entry: z.string(),
})
export type FileJob = z.infer<typeof FileJob>

/** Of the user who asks. */
export const FileJobsAnswer = success(z.object({ jobs: z.array(FileJob) }))
export type FileJobsAnswer = z.infer<typeof FileJobsAnswer>

export const CreateFile = z.strictObject({ path: SharedPath, content: z.literal('') })
export type CreateFile = z.infer<typeof CreateFile>

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
export const SeveralFiles = z.strictObject({ files: z.array(z.strictObject({ path: SharedPath, name: z.string().min(1).max(255) })).min(1).max(10_000) })
export type SeveralFiles = z.infer<typeof SeveralFiles>

/** `token` is a ticket on our platform and the session's token elsewhere (decisions §2). */
export const DownloadFile = z.strictObject({ path: SharedPath, token: z.string().min(1) })
export type DownloadFile = z.infer<typeof DownloadFile>

export const DownloadTicketAnswer = success(z.object({ token: z.string() }))
export type DownloadTicketAnswer = z.infer<typeof DownloadTicketAnswer>

/** Text, or the bytes of a text whose encoding is not UTF-8. */
export const FileContentAnswer = success(z.object({ content: z.union([z.string(), z.array(z.number().int().min(0).max(255))]) }))
export type FileContentAnswer = z.infer<typeof FileContentAnswer>

export const SaveFile = z.strictObject({
  path: SharedPath,
  content: z.string(),
  /** Of the listing entry that was opened: the save is refused when the file changed since (our extra). */
  modifyTime: z.number().optional(),
})
export type SaveFile = z.infer<typeof SaveFile>

export const CreateFile = z.strictObject({ path: SharedPath, content: z.literal('') })
export type CreateFile = z.infer<typeof CreateFile>

import type { FileEntry, FileJob, FileJobsAnswer, FilesAnswer, StoredFiles, TextEncoding } from '../../contract/file'
import type { RootState, Services } from '../app/types'
import { api } from './api'
import type { ApiFailure } from './failure'
import { badAnswer } from './failure'
import { decodeBytes } from './decodeBytes'
import { bearerToken } from './credentials'
import { holdText, takeText } from './fileTexts'
import type { DataOf } from './reading'
import { listIn, reading } from './reading'
import { followDownload, saveAs } from './saveAs'

/** `version` is that of the server, if it tells one. */
export type Listing = { files: FileEntry[]; deploymentTypeIndex: number | null; version?: string }
/** What dialogs and calls are about. */
export type Item = Pick<FileEntry, 'path' | 'name' | 'type'>
/** `text` is a handle (fileTexts.ts); how long it is, a replay shows in its place. Encoding and time are the extras of our platform. */
export type OpenedFile = {
  text: string
  characters: number
  lines: number
  encoding?: TextEncoding
  modifyTime?: number
}

/** Product §7 has one call per item; so many are on their way at once. */
const PARALLEL = 4

/** A text for the store, which does not have it. */
const held = (text: string) => ({ text: holdText(text), characters: text.length, lines: text.split('\n').length })

const at = (call: string, path: string) => `sftp/${call}?path=${encodeURIComponent(path)}`
const post = (call: string, body: unknown) => ({ url: `sftp/${call}`, method: 'POST' as const, body })

type Outcome = { error?: unknown }

/** Does one call per item, goes on where one fails, and says in the end which did. Without a session there is no going on. */
async function eachOf<Entry extends { path: string }>(
  entries: readonly Entry[],
  call: (entry: Entry) => Outcome | PromiseLike<Outcome>,
) {
  const failures: { path: string; error: ApiFailure }[] = []
  const rest = [...entries]
  const work = async () => {
    for (let entry; (entry = rest.shift());) {
      const error = (await call(entry)).error as ApiFailure | undefined
      if (error) failures.push({ path: entry.path, error })
      if (error?.status === 401) rest.length = 0
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  const [first] = failures
  if (!first) return { data: null }
  return {
    error: {
      ...first.error,
      failed: failures.map(({ path, error: { message } }) => ({ path, ...(message && { message }) })),
    },
  }
}

/** The listings that show these entries, and those of the entries themselves. */
export const listingsOf = (paths: readonly string[]) =>
  [...new Set(paths.flatMap((path) => [path.slice(0, path.lastIndexOf('/')), path]))].map((id) => ({
    type: 'Files' as const,
    id,
  }))

const storedIn = (data: unknown) => (data as Partial<StoredFiles> | null)?.data?.files?.map(({ name }) => name) ?? []

export const filesApi = api.injectEndpoints({
  endpoints: (build) => ({
    getFiles: build.query<Listing, string>({
      async queryFn(path, { getState, queryCacheKey = '' }, _options, request) {
        const known = (getState() as RootState).api.queries[queryCacheKey]?.data as Listing | undefined
        const { data, error, meta } = await request({ url: at('files', path), ifNoneMatch: known?.version })
        if (error) return { error }
        if (known && meta?.isUnchanged) return { data: known }
        const { files, deploymentTypeIndex = null } = (data as { data?: DataOf<FilesAnswer> | null } | null)?.data ?? {}
        return Array.isArray(files)
          ? { data: { files, deploymentTypeIndex, ...(meta?.etag && { version: meta.etag }) } }
          : { error: badAnswer }
      },
      providesTags: (_result, _error, path) => [{ type: 'Files', id: path }],
    }),

    createFile: build.mutation<null, string>({
      query: (path) => post('file', { path, content: '' }),
      transformResponse: () => null,
      invalidatesTags: (_result, _error, path) => listingsOf([path]),
    }),

    createDirectory: build.mutation<null, string>({
      query: (path) => post('directory', { path }),
      transformResponse: () => null,
      invalidatesTags: (_result, _error, path) => listingsOf([path]),
    }),

    deleteFiles: build.mutation<null, Item[]>({
      queryFn: (items, _api, _options, request) =>
        eachOf(items, ({ path, type }) =>
          request({ url: at(type === 'd' ? 'directory' : 'file', path), method: 'DELETE', timeoutMs: null }),
        ),
      invalidatesTags: (_result, _error, items) => listingsOf(items.map(({ path }) => path)),
    }),

    moveFiles: build.mutation<null, { path: string; targetPath: string }[]>({
      queryFn: (moves, _api, _options, request) =>
        eachOf(moves, ({ path, targetPath }) =>
          request({ ...post('move', { sourcePath: path, targetPath }), timeoutMs: null }),
        ),
      invalidatesTags: (_result, _error, moves) =>
        listingsOf(moves.flatMap(({ path, targetPath }) => [path, targetPath])),
    }),

    renameFile: build.mutation<null, { path: string; targetPath: string }>({
      query: ({ path, targetPath }) => post('move', { sourcePath: path, targetPath }),
      transformResponse: () => null,
      invalidatesTags: (_result, _error, { path, targetPath }) => listingsOf([path, targetPath]),
    }),

    /** Of one file. The browser fetches it by itself: what lets it in stays out of the store. */
    downloadFile: build.mutation<null, Item>({
      async queryFn({ path, name }, { extra }, _options, request) {
        const { data, error } = await request(post('download-ticket', { path }))
        // Only our platform has tickets (decisions §2).
        const token = error?.status === 404 ? bearerToken(extra as Services) : ticketIn(data)
        if (!token) return { error: error ?? badAnswer }
        followDownload(`/api/${at('download', path)}&token=${encodeURIComponent(token)}`, name)
        return { data: null }
      },
    }),

    /** Of several, or of a directory: as one zip of that name. */
    downloadFiles: build.mutation<null, { items: Item[]; as: string }>({
      async queryFn({ items, as }, _api, _options, request) {
        const call = post('download-multiple', { files: items.map(({ path, name }) => ({ path, name })) })
        const { data, error } = await request({ ...call, timeoutMs: null, answer: 'file' })
        if (error) return { error }
        saveAs(as, data as Blob)
        return { data: null }
      },
    }),

    openFile: build.mutation<OpenedFile, string>({
      async queryFn(path, _api, _options, request) {
        const { data, error } = await request(at('file/content', path))
        if (error) return { error }
        const { content, encoding, modifyTime } =
          (data as { data?: { content?: unknown; encoding?: TextEncoding; modifyTime?: number } } | null)?.data ?? {}
        const known = { ...(encoding && { encoding }), ...(modifyTime !== undefined && { modifyTime }) }
        if (typeof content === 'string') return { data: { ...held(content), ...known } }
        if (!Array.isArray(content)) return { error: badAnswer }
        const decoded = decodeBytes(content as number[])
        return { data: { ...held(decoded.text), encoding: decoded.encoding, ...known } }
      },
    }),

    /** `text` is a handle. Without `modifyTime` it is saved over whatever is there. Answers the file's new time, if the server says it. */
    saveFile: build.mutation<
      { modifyTime?: number },
      { path: string; text: string; encoding?: TextEncoding; modifyTime?: number }
    >({
      async queryFn({ path, text, encoding, modifyTime }, _api, _options, request) {
        const body = {
          path,
          content: takeText(text) ?? '',
          ...(encoding && { encoding }),
          ...(modifyTime !== undefined && { modifyTime }),
        }
        const { data, error } = await request({ url: 'sftp/file/content', method: 'PATCH', body })
        if (error) return { error }
        const saved = (data as { data?: { modifyTime?: unknown } } | null)?.data?.modifyTime
        return { data: typeof saved === 'number' ? { modifyTime: saved } : {} }
      },
      invalidatesTags: (_result, _error, { path }) => listingsOf([path]),
    }),

    /** Answers when all is packed, with the names of what came to be. */
    archiveFiles: build.mutation<string[], Item[]>({
      async queryFn(items, _api, _options, request) {
        const [only, ...others] = items
        const call =
          only && others.length === 0
            ? post('archive', { path: only.path })
            : post('archive-multiple', { files: items.map(({ path, name }) => ({ path, name })) })
        const { data, error } = await request({ ...call, timeoutMs: null })
        return error ? { error } : { data: storedIn(data) }
      },
      invalidatesTags: (_result, _error, items) => listingsOf(items.map(({ path }) => path)),
    }),

    unarchiveFile: build.mutation<string[], Item>({
      async queryFn({ path }, _api, _options, request) {
        const { data, error } = await request({ ...post('unarchive', { path }), timeoutMs: null })
        return error ? { error } : { data: storedIn(data) }
      },
      invalidatesTags: (_result, _error, { path }) => listingsOf([path]),
    }),

    getFileJobs: build.query<FileJob[], void>({
      queryFn: reading(
        () => 'sftp/jobs',
        ({ jobs }: DataOf<FileJobsAnswer>) => listIn(jobs),
      ),
      keepUnusedDataFor: 0,
    }),

    cancelFileJob: build.mutation<null, string>({
      query: (id) => ({ url: `sftp/jobs/${encodeURIComponent(id)}`, method: 'DELETE' }),
      transformResponse: () => null,
    }),

    /** Of an upload: parents first, and what exists already is none of its failures' business: `existing` tells. */
    createDirectories: build.mutation<{ existing: string[]; failed: { path: string; message?: string }[] }, string[]>({
      async queryFn(paths, _api, _options, request) {
        const existing: string[] = []
        const failed: { path: string; message?: string }[] = []
        for (const path of paths) {
          const error = (await request(post('directory', { path }))).error
          if (error?.status === 401) return { error }
          if (error?.status === 409) existing.push(path)
          else if (error) failed.push({ path, ...(error.message && { message: error.message }) })
        }
        return { data: { existing, failed } }
      },
    }),
  }),
})

export const {
  useGetFilesQuery,
  useCreateFileMutation,
  useCreateDirectoryMutation,
  useDeleteFilesMutation,
  useMoveFilesMutation,
  useRenameFileMutation,
  useDownloadFileMutation,
  useDownloadFilesMutation,
  useOpenFileMutation,
  useSaveFileMutation,
  useGetFileJobsQuery,
  useCancelFileJobMutation,
} = filesApi

function ticketIn(data: unknown) {
  const token = (data as { data?: { token?: unknown } } | null)?.data?.token
  return typeof token === 'string' && token !== '' ? token : undefined
}

import type { FileEntry, FilesResponse } from '../../contract/file'
import type { Services } from '../app/services'
import type { RootState } from '../app/types'
import { basePath } from '../basePath'
import { api } from './api'
import type { ApiFailure } from '../failure'
import { badResponse } from '../failure'
import { bearerToken } from './signIn/credentials'
import type { DataOf } from './transport/dataSchema'
import { openDownload, saveAs } from './saveAs'

/** `version` is the ETag, if the server sends one. */
export type Listing = { files: FileEntry[]; deploymentTypeIndex: number | null; version?: string }
/** The part of an entry that dialogs and calls need. */
export type EntryRef = Pick<FileEntry, 'path' | 'name' | 'type'>
/** Product §7 has one call per item; this many run concurrently. */
const PARALLEL = 4

export const urlFor = (call: string, path: string) => `sftp/${call}?path=${encodeURIComponent(path)}`
export const post = (call: string, body: unknown) => ({ url: `sftp/${call}`, method: 'POST' as const, body })

type Outcome = { error?: unknown }

/** Sends one request per entry, continues after failures and returns them all. A 401 stops it. */
async function callForEach<Entry extends { path: string }>(
  entries: readonly Entry[],
  call: (entry: Entry) => Outcome | PromiseLike<Outcome>,
) {
  const failures: { path: string; error: ApiFailure }[] = []
  const rest = [...entries]
  const work = async () => {
    while (true) {
      const entry = rest.shift()
      if (!entry) return
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

/** Returns the tags of the listings that contain these paths, and of the paths' own listings. */
export const listingTags = (paths: readonly string[]) =>
  [...new Set(paths.flatMap((path) => [path.slice(0, path.lastIndexOf('/')), path]))].map((id) => ({
    type: 'Files' as const,
    id,
  }))

export const filesApi = api.injectEndpoints({
  endpoints: (build) => ({
    getFiles: build.query<Listing, string>({
      async queryFn(path, { getState, queryCacheKey = '' }, _options, request) {
        const known = (getState() as RootState).api.queries[queryCacheKey]?.data as Listing | undefined
        const { data, error, meta } = await request({ url: urlFor('files', path), ifNoneMatch: known?.version })
        if (error) return { error }
        if (known && meta?.isUnchanged) return { data: known }
        const { files, deploymentTypeIndex = null } =
          (data as { data?: DataOf<FilesResponse> | null } | null)?.data ?? {}
        return Array.isArray(files)
          ? { data: { files, deploymentTypeIndex, ...(meta?.etag && { version: meta.etag }) } }
          : { error: badResponse }
      },
      providesTags: (_result, _error, path) => [{ type: 'Files', id: path }],
    }),

    createFile: build.mutation<null, string>({
      query: (path) => post('file', { path, content: '' }),
      transformResponse: () => null,
      invalidatesTags: (_result, _error, path) => listingTags([path]),
    }),

    createDirectory: build.mutation<null, string>({
      query: (path) => post('directory', { path }),
      transformResponse: () => null,
      invalidatesTags: (_result, _error, path) => listingTags([path]),
    }),

    deleteFiles: build.mutation<null, EntryRef[]>({
      queryFn: (items, _api, _options, request) =>
        callForEach(items, ({ path, type }) =>
          request({ url: urlFor(type === 'd' ? 'directory' : 'file', path), method: 'DELETE', timeoutMs: null }),
        ),
      invalidatesTags: (_result, _error, items) => listingTags(items.map(({ path }) => path)),
    }),

    moveFiles: build.mutation<null, { path: string; targetPath: string }[]>({
      queryFn: (moves, _api, _options, request) =>
        callForEach(moves, ({ path, targetPath }) =>
          request({ ...post('move', { sourcePath: path, targetPath }), timeoutMs: null }),
        ),
      invalidatesTags: (_result, _error, moves) =>
        listingTags(moves.flatMap(({ path, targetPath }) => [path, targetPath])),
    }),

    renameFile: build.mutation<null, { path: string; targetPath: string }>({
      query: ({ path, targetPath }) => post('move', { sourcePath: path, targetPath }),
      transformResponse: () => null,
      invalidatesTags: (_result, _error, { path, targetPath }) => listingTags([path, targetPath]),
    }),

    /** Downloads one file. The browser follows a URL with a ticket, which stays out of the store. */
    downloadFile: build.mutation<null, EntryRef>({
      async queryFn({ path, name }, { extra }, _options, request) {
        const { data, error } = await request(post('download-ticket', { path }))
        // Only our platform has tickets (decisions §2); other servers take the session's token.
        const token = error?.status === 404 ? bearerToken(extra as Services) : ticketIn(data)
        if (!token) return { error: error ?? badResponse }
        openDownload(`${basePath()}/api/${urlFor('download', path)}&token=${encodeURIComponent(token)}`, name)
        return { data: null }
      },
    }),

    /** Downloads several entries, or a directory, as one zip with the name `as`. */
    downloadFiles: build.mutation<null, { items: EntryRef[]; as: string }>({
      async queryFn({ items, as }, _api, _options, request) {
        const call = post('download-multiple', { files: items.map(({ path, name }) => ({ path, name })) })
        const { data, error } = await request({ ...call, timeoutMs: null, responseType: 'file' })
        if (error) return { error }
        saveAs(as, data as Blob)
        return { data: null }
      },
    }),

    /** Creates the directories of an upload, parents first. Existing ones do not count as failures (`existing`). */
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
  useDownloadFilesMutation,
} = filesApi

function ticketIn(data: unknown) {
  const token = (data as { data?: { token?: unknown } } | null)?.data?.token
  return typeof token === 'string' && token !== '' ? token : undefined
}

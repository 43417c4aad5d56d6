import type { FileJob, FileJobsResponse, StoredFiles } from '../../contract/file'
import { api } from './api'
import type { EntryRef } from './files'
import { listingTags, post } from './files'
import type { DataOf } from './transport/dataSchema'
import { dataSchema, listIn } from './transport/dataSchema'

const storedNames = (data: unknown) => (data as Partial<StoredFiles> | null)?.data?.files?.map(({ name }) => name) ?? []

export const archivesApi = api.injectEndpoints({
  endpoints: (build) => ({
    /** Resolves once packing is done, with the names of the archives. */
    archiveFiles: build.mutation<string[], EntryRef[]>({
      async queryFn(items, _api, _options, request) {
        const [only, ...others] = items
        const call =
          only && others.length === 0
            ? post('archive', { path: only.path })
            : post('archive-multiple', { files: items.map(({ path, name }) => ({ path, name })) })
        const { data, error } = await request({ ...call, timeoutMs: null })
        return error ? { error } : { data: storedNames(data) }
      },
      invalidatesTags: (_result, _error, items) => listingTags(items.map(({ path }) => path)),
    }),

    unarchiveFile: build.mutation<string[], EntryRef>({
      async queryFn({ path }, _api, _options, request) {
        const { data, error } = await request({ ...post('unarchive', { path }), timeoutMs: null })
        return error ? { error } : { data: storedNames(data) }
      },
      invalidatesTags: (_result, _error, { path }) => listingTags([path]),
    }),

    getFileJobs: build.query<FileJob[], void>({
      query: () => 'sftp/jobs',
      responseSchema: dataSchema(({ jobs }: DataOf<FileJobsResponse>) => listIn(jobs)),
      keepUnusedDataFor: 0,
    }),

    cancelFileJob: build.mutation<null, string>({
      query: (id) => ({ url: `sftp/jobs/${encodeURIComponent(id)}`, method: 'DELETE' }),
      transformResponse: () => null,
    }),
  }),
})

export const { useGetFileJobsQuery, useCancelFileJobMutation } = archivesApi

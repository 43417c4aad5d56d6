import type { TextEncoding } from '../../contract/file'
import { badResponse } from '../failure'
import { api } from './api'
import { listingTags, urlFor } from './files'
import { holdText, takeText } from './heldTexts'
import { decodeBytes } from './transport/decodeBytes'

/** `text` is a handle (heldTexts.ts). A replay shows the counts instead. Only our platform sends encoding and time. */
export type OpenedFile = {
  text: string
  characters: number
  lines: number
  encoding?: TextEncoding
  modifyTime?: number
}

/** Keeps the text outside the store and returns its handle with its length. */
const holdOutsideStore = (text: string) => ({
  text: holdText(text),
  characters: text.length,
  lines: text.split('\n').length,
})

export const fileTextsApi = api.injectEndpoints({
  endpoints: (build) => ({
    openFile: build.mutation<OpenedFile, string>({
      async queryFn(path, _api, _options, request) {
        const { data, error } = await request(urlFor('file/content', path))
        if (error) return { error }
        const { content, encoding, modifyTime } =
          (data as { data?: { content?: unknown; encoding?: TextEncoding; modifyTime?: number } } | null)?.data ?? {}
        const known = { ...(encoding && { encoding }), ...(modifyTime !== undefined && { modifyTime }) }
        if (typeof content === 'string') return { data: { ...holdOutsideStore(content), ...known } }
        if (!Array.isArray(content)) return { error: badResponse }
        const decoded = decodeBytes(content as number[])
        return { data: { ...holdOutsideStore(decoded.text), encoding: decoded.encoding, ...known } }
      },
    }),

    /** `text` is a handle. Without `modifyTime` it overwrites any version. Returns the new time if it is sent. */
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
      invalidatesTags: (_result, _error, { path }) => listingTags([path]),
    }),
  }),
})

export const { useOpenFileMutation, useSaveFileMutation } = fileTextsApi

import type { Middleware } from '@reduxjs/toolkit'
import { isAction, isAnyOf } from '@reduxjs/toolkit'
import { numberedName } from '../../../../contract/numberedName'
import type { AppDispatch, RootState, Services } from '../../../app/types'
import { readAnswer } from '../../../api/answer'
import { asUser } from '../../../api/asUser'
import { api } from '../../../api/api'
import type { ApiFailure } from '../../../api/failure'
import { failureText } from '../../../api/failure'
import { filesApi, listingsOf } from '../../../api/files'
import { reasonOf, reportProblem } from '../../../api/reportProblem'
import { sessionEnded } from '../../../facts'
import { counted } from '../../../ui/counted'
import { join } from '../sharedPath'
import { dropFile, fileOf } from './heldFiles'
import type { SendUpload } from './sendUpload'
import type { ConflictAnswer, Upload, UploadChange } from './uploadSlice'
import {
  advanced,
  allCancelled,
  cancelled,
  cleared,
  conflictAnswered,
  filesChosen,
  isUnder,
  retried,
} from './uploadSlice'

/** On their way at once; the others wait. */
const PARALLEL = 3
/** Between two tellings of progress. In milliseconds. */
const TELL_MS = 250
const FAILED = 'Failed to upload files. Please try again.'

/** How to break off what is under way for an upload: nothing, before there is a request. */
type Attempt = { abort(): void }
type Ending = { data: unknown; error?: undefined } | { error: ApiFailure } | { error?: undefined; aborted: true }

const isAsked = isAnyOf(conflictAnswered, cancelled, allCancelled, retried, cleared)

/** Owns the requests of uploads, and nothing else makes them; tells how they go as facts. Without an end of the session it goes on whatever page is shown. */
export const createUploadQueue =
  (sendUpload: SendUpload, services: Services): Middleware =>
  (store) => {
    const dispatch = store.dispatch as AppDispatch
    const getState = () => store.getState() as RootState
    const waiting: string[] = []
    const running = new Map<string, Attempt>()
    /** What was said for all of a batch, for those of it that turn out later to exist. */
    const answers = new Map<string, ConflictAnswer>()
    const held = new Set<string>()
    /** Batches whose directories and conflicts are still looked into. */
    const preparing = new Set<string>()
    /** Failures that were notified of. */
    const told = new Set<string>()
    const changes = new Map<string, UploadChange>()
    let timer: ReturnType<typeof setTimeout> | undefined

    /** As it is by now: a moment later the slice is told. */
    const uploadOf = (id: string): Upload | undefined => {
      const upload = getState().uploads?.byId[id]
      return upload && isUnder(upload.status) ? { ...upload, ...changes.get(id) } : upload
    }
    /** Told a few times a second: for each of thousands of small files it would take the page longer than sending them. */
    const tell = () => {
      clearTimeout(timer)
      timer = undefined
      if (changes.size === 0) return
      const news = [...changes.values()]
      changes.clear()
      dispatch(advanced({ at: services.now(), changes: news }))
    }
    const note = (change: UploadChange) => {
      changes.set(change.id, { ...changes.get(change.id), ...change })
      timer ??= setTimeout(tell, TELL_MS)
    }

    const fail = (id: string, message: string | undefined) => note({ id, status: 'failed', problem: message ?? FAILED })
    const ask = (upload: Upload) => {
      const answer = answers.get(upload.batch)
      if (answer === 'skip') note({ id: upload.id, status: 'skipped' })
      else if (answer) {
        note({ id: upload.id, status: 'waiting', onConflict: answer })
        waiting.push(upload.id)
      } else note({ id: upload.id, status: 'asking', sent: 0 })
    }

    const transfer = (upload: Upload, file: File, name: string, token: string | undefined, attempt: Attempt) =>
      new Promise<Ending>((resolve) => {
        const abort = sendUpload(
          { file, name, directory: upload.directory, onConflict: upload.onConflict, token },
          {
            sent: (bytes) => note({ id: upload.id, sent: Math.min(bytes, upload.size) }),
            answered: (status, text) => resolve(readAnswer(status, text)),
            failed: () => resolve({ error: { status: 'UNREACHABLE' } }),
          },
        )
        attempt.abort = () => {
          abort()
          resolve({ aborted: true })
        }
      })

    const start = async (id: string, attempt: Attempt) => {
      const upload = uploadOf(id)
      const file = fileOf(id)
      if (!upload || upload.status !== 'waiting') return
      if (!file) return fail(id, undefined)
      note({ id, status: 'sending' })
      const name = upload.onConflict === 'keepBoth' ? await freeName(upload) : upload.name
      // Cancelled meanwhile, when there was nothing to break off, and maybe begun anew.
      if (running.get(id) !== attempt || (uploadOf(id)?.status ?? 'cancelled') === 'cancelled') return
      const ending = await asUser<Ending>({ dispatch, getState, extra: services }, (token) =>
        transfer(upload, file, name, token, attempt),
      )
      if (ending.error?.status === 409 && upload.onConflict === 'refuse') ask(upload)
      else if (ending.error) fail(id, ending.error.status === 'UNREACHABLE' ? undefined : ending.error.message)
      else if ('data' in ending) {
        note({ id, status: 'done', sent: upload.size })
        dropFile(id)
        held.delete(id)
      }
    }

    const pump = () => {
      while (running.size < PARALLEL) {
        const id = waiting.shift()
        if (id === undefined) break
        // Counted from now on, before the request itself is there to be broken off.
        const attempt: Attempt = { abort() {} }
        running.set(id, attempt)
        const { batch } = uploadOf(id) ?? { batch: '' }
        void start(id, attempt).then(() => {
          if (running.get(id) === attempt) running.delete(id)
          pump()
          endOf(batch)
        })
      }
    }

    /** When nothing of a batch is on its way any more, what it brought is shown, and what it did not bring is said. */
    const endOf = (batch: string) => {
      const isOfBatch = (id: string) => uploadOf(id)?.batch === batch
      if (preparing.has(batch) || [...running.keys()].some(isOfBatch) || waiting.some(isOfBatch)) return
      tell()
      const uploads = Object.values(getState().uploads?.byId ?? {}).filter((upload) => upload.batch === batch)
      if (uploads.length === 0) return
      dispatch(
        api.util.invalidateTags(
          [...new Set(uploads.map(({ directory }) => directory))].map((id) => ({ type: 'Files', id })),
        ),
      )
      const failed = uploads.filter(({ id, status }) => status === 'failed' && !told.has(id))
      for (const { id } of failed) told.add(id)
      if (!failed[0]) return
      const reason = reasonOf({
        failed: failed.map(({ name, directory, problem }) => ({ path: join(directory, name), message: problem })),
      })
      dispatch(reportProblem(`Failed to upload ${counted(failed.length, 'file')}`, reason, failed[0].problem ?? FAILED))
    }

    /** Of a batch of nothing but directories. */
    const endOfDirectories = (problem: string | undefined) => {
      if (problem !== undefined) dispatch(reportProblem('Failed to upload directories', problem, problem))
    }

    /** Names of a directory as the server has them; none where it does not say, and why. */
    const namesIn = async (
      directory: string,
      isFresh: boolean,
    ): Promise<{ names: ReadonlySet<string>; error: unknown }> => {
      const { data, error } = await dispatch(
        filesApi.endpoints.getFiles.initiate(directory, { subscribe: false, forceRefetch: isFresh }),
      )
      return { names: new Set(data?.files.map(({ name }) => name)), error }
    }

    /** A server that knows nothing of `onConflict` must not replace what was to be kept. */
    const freeName = async ({ name, directory }: Upload) => {
      const { names: taken } = await namesIn(directory, true)
      for (let count = 2, free = name; ; count++) {
        if (!taken.has(free)) return free
        free = numberedName(name, count)
      }
    }

    const prepare = async ({ batch, files, directories }: ReturnType<typeof filesChosen>['payload']) => {
      const made =
        directories.length > 0
          ? await dispatch(filesApi.endpoints.createDirectories.initiate(directories, { track: false }))
          : undefined
      if (made) dispatch(api.util.invalidateTags(listingsOf(directories)))
      const existing = made?.data?.existing ?? []
      const failed = [...(made?.data?.failed ?? [])]
      const broken = (directory: string) =>
        failed.find(({ path }) => directory === path || directory.startsWith(`${path}/`))
      const names = new Map<string, ReadonlySet<string>>()
      const fresh = new Set(directories.filter((directory) => !existing.includes(directory)))
      for (const directory of new Set(files.map((file) => file.directory))) {
        if (fresh.has(directory)) continue
        const found = await namesIn(directory, existing.includes(directory))
        names.set(directory, found.names)
        // What has its name is a file.
        if ((found.error as ApiFailure | undefined)?.status === 409)
          failed.push({ path: directory, message: failureText(found.error, FAILED) })
      }
      for (const { id, name, directory } of files) {
        const upload = uploadOf(id)
        if (upload?.status !== 'waiting') continue
        if (made?.error) fail(id, failureText(made.error, FAILED))
        else if (broken(directory)) fail(id, broken(directory)?.message)
        else if (names.get(directory)?.has(name)) ask(upload)
        else waiting.push(id)
      }
      preparing.delete(batch)
      if (files.length === 0) endOfDirectories(made?.error ? failureText(made.error, FAILED) : failed[0]?.message)
      tell()
      pump()
      endOf(batch)
    }

    const stop = (ids: string[]) => {
      for (const id of ids) {
        const at = waiting.indexOf(id)
        if (at !== -1) waiting.splice(at, 1)
        running.get(id)?.abort()
      }
      // Those that had not begun end here.
      for (const batch of new Set(ids.flatMap((id) => uploadOf(id)?.batch ?? []))) endOf(batch)
    }

    return (next) => (action) => {
      // What somebody does about uploads is about all that is known of them.
      if (isAction(action) && isAsked(action)) tell()
      const { byId = {}, isForAll = false } = getState().uploads ?? {}
      const result = next(action)
      if (!isAction(action)) return result

      if (filesChosen.match(action)) {
        preparing.add(action.payload.batch)
        for (const { id } of action.payload.files) held.add(id)
        void prepare(action.payload)
      } else if (conflictAnswered.match(action)) {
        const { id, answer } = action.payload
        const batch = uploadOf(id)?.batch
        if (batch !== undefined && isForAll) answers.set(batch, answer)
        for (const upload of Object.values(byId))
          if (upload.status === 'asking' && uploadOf(upload.id)?.status === 'waiting') waiting.push(upload.id)
        pump()
        if (batch !== undefined) endOf(batch)
      } else if (cancelled.match(action)) stop([action.payload])
      else if (allCancelled.match(action)) stop([...waiting, ...running.keys()])
      else if (retried.match(action) && uploadOf(action.payload)?.status === 'waiting') {
        told.delete(action.payload)
        waiting.push(action.payload)
        pump()
      } else if (cleared.match(action) || sessionEnded.match(action)) {
        for (const id of held) {
          if (uploadOf(id)) continue
          stop([id])
          dropFile(id)
          held.delete(id)
          told.delete(id)
        }
      }
      return result
    }
  }

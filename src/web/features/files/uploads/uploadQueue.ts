import { isAction, isAnyOf } from '@reduxjs/toolkit'
import { numberedName } from '../../../../contract/pageRules'
import { addAppMiddleware } from '../../../app/dynamicMiddleware'
import { servicesOf } from '../../../app/services'
import { parseAnswer } from '../../../api/transport/parseAnswer'
import { callWithSession } from '../../../api/transport/callWithSession'
import { api } from '../../../api/api'
import type { ApiFailure } from '../../../failure'
import { failureText } from '../../../failure'
import { filesApi, listingTags } from '../../../api/files'
import { failureReason, reportProblem } from '../../../api/reportProblem'
import { sessionEnded } from '../../../facts'
import { counted } from '../../../ui/counted'
import { joinPath } from '../sharedPath'
import { releaseFile, heldFile } from './heldFiles'
import { sendUpload as sendByRequest } from './sendUpload'
import type { ConflictAnswer, Upload, UploadChange } from './uploadSlice'
import {
  uploadsProgressed,
  allUploadsCancelled,
  uploadCancelled,
  endedUploadsCleared,
  conflictAnswered,
  filesChosen,
  isActive,
  uploadRetried,
} from './uploadSlice'

/** Number of concurrent requests. */
const PARALLEL = 3
/** Throttle of the progress that is dispatched. */
const PROGRESS_INTERVAL_MS = 250
const FAILED = 'Failed to upload files. Please try again.'

/** Aborts the attempt. Does nothing until its request has begun. */
type Attempt = { abort(): void }
type Outcome = { data: unknown; error?: undefined } | { error: ApiFailure } | { error?: undefined; aborted: true }

const isUserAction = isAnyOf(conflictAnswered, uploadCancelled, allUploadsCancelled, uploadRetried, endedUploadsCleared)

/** Owns the requests of uploads and dispatches their progress. They continue on any page until the session ends. */
addAppMiddleware((store) => {
  const { dispatch } = store
  const getState = () => store.getState()
  const services = servicesOf(dispatch)
  const { sendUpload = sendByRequest } = services
  const waiting: string[] = []
  const running = new Map<string, Attempt>()
  /** Answers that apply to a whole batch, for conflicts that are found later. */
  const answers = new Map<string, ConflictAnswer>()
  const heldIds = new Set<string>()
  /** Batches whose directories are being created and whose conflicts are being checked. */
  const preparing = new Set<string>()
  /** Failed uploads that were already reported. */
  const reported = new Set<string>()
  const changes = new Map<string, UploadChange>()
  let timer: ReturnType<typeof setTimeout> | undefined

  /** The current upload, including changes that are not dispatched yet. */
  const uploadOf = (id: string): Upload | undefined => {
    const upload = getState().uploads?.byId[id]
    return upload && isActive(upload.status) ? { ...upload, ...changes.get(id) } : upload
  }
  /** Throttled: an action for each of thousands of small files would take longer than sending them. */
  const flushProgress = () => {
    clearTimeout(timer)
    timer = undefined
    if (changes.size === 0) return
    const pending = [...changes.values()]
    changes.clear()
    dispatch(uploadsProgressed({ at: services.now(), changes: pending }))
  }
  const recordChange = (change: UploadChange) => {
    changes.set(change.id, { ...changes.get(change.id), ...change })
    timer ??= setTimeout(flushProgress, PROGRESS_INTERVAL_MS)
  }

  const fail = (id: string, message: string | undefined) =>
    recordChange({ id, status: 'failed', problem: message ?? FAILED })
  const resolveConflict = (upload: Upload) => {
    const answer = answers.get(upload.batch)
    if (answer === 'skip') recordChange({ id: upload.id, status: 'skipped' })
    else if (answer) {
      recordChange({ id: upload.id, status: 'waiting', onConflict: answer })
      waiting.push(upload.id)
    } else recordChange({ id: upload.id, status: 'asking', sent: 0 })
  }

  const transfer = (upload: Upload, file: File, name: string, token: string | undefined, attempt: Attempt) =>
    new Promise<Outcome>((resolve) => {
      const abort = sendUpload(
        { file, name, directory: upload.directory, onConflict: upload.onConflict, token },
        {
          sent: (bytes) => recordChange({ id: upload.id, sent: Math.min(bytes, upload.size) }),
          answered: (status, text) => resolve(parseAnswer(status, text)),
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
    const file = heldFile(id)
    if (!upload || upload.status !== 'waiting') return
    if (!file) return fail(id, undefined)
    recordChange({ id, status: 'sending' })
    const name = upload.onConflict === 'keepBoth' ? await freeName(upload) : upload.name
    // The upload may have been cancelled, and even retried, during the lookup.
    if (running.get(id) !== attempt || (uploadOf(id)?.status ?? 'cancelled') === 'cancelled') return
    const outcome = await callWithSession<Outcome>({ dispatch, getState, extra: services }, (token) =>
      transfer(upload, file, name, token, attempt),
    )
    if (outcome.error?.status === 409 && upload.onConflict === 'refuse') resolveConflict(upload)
    else if (outcome.error) fail(id, outcome.error.status === 'UNREACHABLE' ? undefined : outcome.error.message)
    else if ('data' in outcome) {
      recordChange({ id, status: 'done', sent: upload.size })
      releaseFile(id)
      heldIds.delete(id)
    }
  }

  const pump = () => {
    while (running.size < PARALLEL) {
      const id = waiting.shift()
      if (id === undefined) break
      // Takes its slot before the request exists.
      const attempt: Attempt = { abort() {} }
      running.set(id, attempt)
      const { batch } = uploadOf(id) ?? { batch: '' }
      void start(id, attempt).then(() => {
        if (running.get(id) === attempt) running.delete(id)
        pump()
        settleBatch(batch)
      })
    }
  }

  /** Once no upload of a batch is queued or in-flight, refetches its directories and reports its failures. */
  const settleBatch = (batch: string) => {
    const isOfBatch = (id: string) => uploadOf(id)?.batch === batch
    if (preparing.has(batch) || [...running.keys()].some(isOfBatch) || waiting.some(isOfBatch)) return
    flushProgress()
    const uploads = Object.values(getState().uploads?.byId ?? {}).filter((upload) => upload.batch === batch)
    if (uploads.length === 0) return
    dispatch(
      api.util.invalidateTags(
        [...new Set(uploads.map(({ directory }) => directory))].map((id) => ({ type: 'Files', id })),
      ),
    )
    const failed = uploads.filter(({ id, status }) => status === 'failed' && !reported.has(id))
    for (const { id } of failed) reported.add(id)
    if (!failed[0]) return
    const reason = failureReason({
      failed: failed.map(({ name, directory, problem }) => ({ path: joinPath(directory, name), message: problem })),
    })
    dispatch(reportProblem(`Failed to upload ${counted(failed.length, 'file')}`, reason, failed[0].problem ?? FAILED))
  }

  /** For a batch that holds directories only. */
  const reportDirectories = (problem: string | undefined) => {
    if (problem !== undefined) dispatch(reportProblem('Failed to upload directories', problem, problem))
  }

  /** Lists a directory. `names` is empty if the listing fails; `error` says why. */
  const namesIn = async (
    directory: string,
    isFresh: boolean,
  ): Promise<{ names: ReadonlySet<string>; error: unknown }> => {
    const { data, error } = await dispatch(
      filesApi.endpoints.getFiles.initiate(directory, { subscribe: false, forceRefetch: isFresh }),
    )
    return { names: new Set(data?.files.map(({ name }) => name)), error }
  }

  /** Chooses the new name here, because a server that ignores `onConflict` would replace the existing file. */
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
    if (made) dispatch(api.util.invalidateTags(listingTags(directories)))
    const existing = made?.data?.existing ?? []
    const failed = [...(made?.data?.failed ?? [])]
    const failureOf = (directory: string) =>
      failed.find(({ path }) => directory === path || directory.startsWith(`${path}/`))
    const names = new Map<string, ReadonlySet<string>>()
    const fresh = new Set(directories.filter((directory) => !existing.includes(directory)))
    for (const directory of new Set(files.map((file) => file.directory))) {
      if (fresh.has(directory)) continue
      const found = await namesIn(directory, existing.includes(directory))
      names.set(directory, found.names)
      // 409: a file has the name of the directory.
      if ((found.error as ApiFailure | undefined)?.status === 409)
        failed.push({ path: directory, message: failureText(found.error, FAILED) })
    }
    for (const { id, name, directory } of files) {
      const upload = uploadOf(id)
      if (upload?.status !== 'waiting') continue
      if (made?.error) fail(id, failureText(made.error, FAILED))
      else if (failureOf(directory)) fail(id, failureOf(directory)?.message)
      else if (names.get(directory)?.has(name)) resolveConflict(upload)
      else waiting.push(id)
    }
    preparing.delete(batch)
    if (files.length === 0) reportDirectories(made?.error ? failureText(made.error, FAILED) : failed[0]?.message)
    flushProgress()
    pump()
    settleBatch(batch)
  }

  const stop = (ids: string[]) => {
    for (const id of ids) {
      const at = waiting.indexOf(id)
      if (at !== -1) waiting.splice(at, 1)
      running.get(id)?.abort()
    }
    // Uploads that had not started do not reach settleBatch otherwise.
    for (const batch of new Set(ids.flatMap((id) => uploadOf(id)?.batch ?? []))) settleBatch(batch)
  }

  return (next) => (action) => {
    // The reducers must see the latest progress before they handle what the user did.
    if (isAction(action) && isUserAction(action)) flushProgress()
    const { byId = {}, isForAll = false } = getState().uploads ?? {}
    const result = next(action)
    if (!isAction(action)) return result

    if (filesChosen.match(action)) {
      preparing.add(action.payload.batch)
      for (const { id } of action.payload.files) heldIds.add(id)
      void prepare(action.payload)
    } else if (conflictAnswered.match(action)) {
      const { id, answer } = action.payload
      const batch = uploadOf(id)?.batch
      if (batch !== undefined && isForAll) answers.set(batch, answer)
      for (const upload of Object.values(byId))
        if (upload.status === 'asking' && uploadOf(upload.id)?.status === 'waiting') waiting.push(upload.id)
      pump()
      if (batch !== undefined) settleBatch(batch)
    } else if (uploadCancelled.match(action)) stop([action.payload])
    else if (allUploadsCancelled.match(action)) stop([...waiting, ...running.keys()])
    else if (uploadRetried.match(action) && uploadOf(action.payload)?.status === 'waiting') {
      reported.delete(action.payload)
      waiting.push(action.payload)
      pump()
    } else if (endedUploadsCleared.match(action) || sessionEnded.match(action)) {
      for (const id of heldIds) {
        if (uploadOf(id)) continue
        stop([id])
        releaseFile(id)
        heldIds.delete(id)
        reported.delete(id)
      }
    }
    return result
  }
})

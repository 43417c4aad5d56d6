import { isAction, isAnyOf } from '@reduxjs/toolkit'
import { api } from '../../../../api/api'
import { failureReason, reportProblem } from '../../../../api/reportProblem'
import { addAppMiddleware } from '../../../../app/dynamicMiddleware'
import { servicesOf } from '../../../../app/servicesOf'
import { sessionEnded } from '../../../../facts'
import { counted } from '../../../../ui/counted'
import { joinPath } from '../../sharedPath'
import { releaseFile } from '../heldFiles'
import type { ConflictAnswer, Upload } from '../uploadSlice'
import {
  allUploadsCancelled,
  uploadCancelled,
  endedUploadsCleared,
  conflictAnswered,
  filesChosen,
  uploadRetried,
} from '../uploadSlice'
import { prepareDirectories } from './prepareDirectories'
import type { QueueStore, UploadProgress } from './uploadProgress'
import { createUploadProgress, FAILED } from './uploadProgress'
import { createUploadSender } from './uploadSender'

const isUserAction = isAnyOf(conflictAnswered, uploadCancelled, allUploadsCancelled, uploadRetried, endedUploadsCleared)

/** Owns the requests of uploads and dispatches their progress. They continue on any page until the session ends. */
addAppMiddleware((page) => {
  const store = { dispatch: page.dispatch, getState: () => page.getState(), services: servicesOf(page.dispatch) }
  const progress = createUploadProgress(store)
  const queue = createUploadQueue(store, progress)

  return (next) => (action) => {
    // The reducers must see the latest progress before they handle what the user did.
    if (isAction(action) && isUserAction(action)) progress.flush()
    const { byId = {}, isForAll = false } = store.getState().uploads ?? {}
    const result = next(action)
    if (!isAction(action)) return result

    if (filesChosen.match(action)) void queue.add(action.payload)
    else if (conflictAnswered.match(action)) {
      const asked = Object.values(byId).filter(({ status }) => status === 'asking')
      queue.answer(action.payload, isForAll, asked)
    } else if (uploadCancelled.match(action)) queue.stop([action.payload])
    else if (allUploadsCancelled.match(action)) queue.stopAll()
    else if (uploadRetried.match(action)) queue.retry(action.payload)
    else if (endedUploadsCleared.match(action) || sessionEnded.match(action)) queue.forgetRemoved()
    return result
  }
})

function createUploadQueue(store: QueueStore, progress: UploadProgress) {
  /** Answers that apply to a whole batch, for conflicts that are found later. */
  const answers = new Map<string, ConflictAnswer>()
  const heldIds = new Set<string>()
  /** Batches whose directories are being created and whose conflicts are being checked. */
  const preparing = new Set<string>()
  /** Failed uploads that were already reported. */
  const reported = new Set<string>()

  const resolveConflict = (upload: Upload) => {
    const answer = answers.get(upload.batch)
    if (answer === 'skip') progress.record({ id: upload.id, status: 'skipped' })
    else if (answer) {
      progress.record({ id: upload.id, status: 'waiting', onConflict: answer })
      sender.add(upload.id)
    } else progress.record({ id: upload.id, status: 'asking', sent: 0 })
  }

  /** Once no upload of a batch is queued or in flight, refetches its directories and reports its failures. */
  const settleBatch = (batch: string) => {
    if (preparing.has(batch) || sender.ids().some((id) => progress.uploadOf(id)?.batch === batch)) return
    progress.flush()
    const uploads = Object.values(store.getState().uploads?.byId ?? {}).filter((upload) => upload.batch === batch)
    if (uploads.length === 0) return
    const tags = [...new Set(uploads.map(({ directory }) => directory))].map((id) => ({ type: 'Files' as const, id }))
    store.dispatch(api.util.invalidateTags(tags))
    const failed = uploads.filter(({ id, status }) => status === 'failed' && !reported.has(id))
    for (const { id } of failed) reported.add(id)
    reportFailed(store, failed)
  }

  const sender = createUploadSender(store, progress, { conflicted: resolveConflict, ended: settleBatch })

  const stop = (ids: string[]) => {
    for (const id of ids) sender.abort(id)
    // Uploads that had not started do not reach settleBatch otherwise.
    for (const batch of new Set(ids.flatMap((id) => progress.uploadOf(id)?.batch ?? []))) settleBatch(batch)
  }

  return {
    async add({ batch, files, directories }: ReturnType<typeof filesChosen>['payload']) {
      preparing.add(batch)
      for (const { id } of files) heldIds.add(id)
      const { problem, problemOf, isTaken } = await prepareDirectories(store.dispatch, files, directories)
      for (const { id, name, directory } of files) {
        const upload = progress.uploadOf(id)
        if (upload?.status !== 'waiting') continue
        const refused = problemOf(directory)
        if (refused) progress.fail(id, refused.message)
        else if (isTaken(directory, name)) resolveConflict(upload)
        else sender.add(id)
      }
      preparing.delete(batch)
      if (files.length === 0 && problem?.message !== undefined)
        store.dispatch(reportProblem('Failed to upload directories', problem.message, problem.message))
      progress.flush()
      sender.pump()
      settleBatch(batch)
    },
    /** @param asked the uploads whose conflicts were open before the answer */
    answer({ id, answer }: { id: string; answer: ConflictAnswer }, isForAll: boolean, asked: Upload[]) {
      const batch = progress.uploadOf(id)?.batch
      if (batch !== undefined && isForAll) answers.set(batch, answer)
      for (const upload of asked) if (progress.uploadOf(upload.id)?.status === 'waiting') sender.add(upload.id)
      sender.pump()
      if (batch !== undefined) settleBatch(batch)
    },
    stop,
    stopAll: () => stop(sender.ids()),
    retry(id: string) {
      if (progress.uploadOf(id)?.status !== 'waiting') return
      reported.delete(id)
      sender.add(id)
      sender.pump()
    },
    /** Releases the files of uploads that are no longer in the state. */
    forgetRemoved() {
      for (const id of heldIds) {
        if (progress.uploadOf(id)) continue
        stop([id])
        releaseFile(id)
        heldIds.delete(id)
        reported.delete(id)
      }
    },
  }
}

function reportFailed({ dispatch }: QueueStore, failed: Upload[]) {
  if (!failed[0]) return
  const reason = failureReason({
    failed: failed.map(({ name, directory, problem }) => ({ path: joinPath(directory, name), message: problem })),
  })
  dispatch(reportProblem(`Failed to upload ${counted(failed.length, 'file')}`, reason, failed[0].problem ?? FAILED))
}

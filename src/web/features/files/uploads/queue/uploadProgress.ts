import type { Services } from '../../../../app/services'
import type { AppDispatch, RootState } from '../../../../app/types'
import type { Upload, UploadChange } from '../uploadSlice'
import { isActive, uploadsProgressed } from '../uploadSlice'

/** Throttle of the progress that is dispatched. */
const PROGRESS_INTERVAL_MS = 250

export const FAILED = 'Failed to upload files. Please try again.'

/** The parts of the store that the queue uses. */
export type QueueStore = { dispatch: AppDispatch; getState: () => RootState; services: Services }

export type UploadProgress = ReturnType<typeof createUploadProgress>

/** Throttles changes of uploads: an action for each of thousands of small files would take longer than sending them. */
export function createUploadProgress({ dispatch, getState, services }: QueueStore) {
  const changes = new Map<string, UploadChange>()
  let timer: ReturnType<typeof setTimeout> | undefined

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    if (changes.size === 0) return
    const pending = [...changes.values()]
    changes.clear()
    dispatch(uploadsProgressed({ at: services.now(), changes: pending }))
  }
  const record = (change: UploadChange) => {
    changes.set(change.id, { ...changes.get(change.id), ...change })
    timer ??= setTimeout(flush, PROGRESS_INTERVAL_MS)
  }

  return {
    /** The current upload, including changes that are not dispatched yet. */
    uploadOf(id: string): Upload | undefined {
      const upload = getState().uploads?.byId[id]
      return upload && isActive(upload.status) ? { ...upload, ...changes.get(id) } : upload
    },
    record,
    fail: (id: string, message: string | undefined) => record({ id, status: 'failed', problem: message ?? FAILED }),
    /** Dispatches the recorded changes at once. */
    flush,
  }
}

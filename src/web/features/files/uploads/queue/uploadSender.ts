import { callWithSession } from '../../../../api/transport/callWithSession'
import { parseResponse } from '../../../../api/transport/parseResponse'
import type { ApiFailure } from '../../../../failure'
import { heldFile, releaseFile } from '../heldFiles'
import { sendUpload as sendByRequest } from '../sendUpload'
import type { Upload } from '../uploadSlice'
import { findFreeName } from './listNames'
import type { QueueStore, UploadProgress } from './uploadProgress'

/** Number of concurrent requests. */
const PARALLEL = 3

/** Aborts the attempt. Does nothing until its request has begun. */
type Attempt = { abort(): void }
type Outcome = { data: unknown; error?: undefined } | { error: ApiFailure } | { error?: undefined; aborted: true }

type SenderEvents = {
  /** The name of the upload is taken. */
  conflicted(upload: Upload): void
  /** The attempt of an upload of this batch has ended. */
  ended(batch: string): void
}

/** Sends the uploads that were added, in their order. */
export function createUploadSender(store: QueueStore, progress: UploadProgress, events: SenderEvents) {
  const { sendUpload = sendByRequest } = store.services
  const waiting: string[] = []
  const running = new Map<string, Attempt>()

  const transfer = (upload: Upload, file: File, name: string, token: string | undefined, attempt: Attempt) =>
    new Promise<Outcome>((resolve) => {
      const abort = sendUpload(
        { file, name, directory: upload.directory, onConflict: upload.onConflict, token },
        {
          sent: (bytes) => progress.record({ id: upload.id, sent: Math.min(bytes, upload.size) }),
          answered: (status, text) => resolve(parseResponse(status, text)),
          failed: () => resolve({ error: { status: 'UNREACHABLE' } }),
        },
      )
      attempt.abort = () => {
        abort()
        resolve({ aborted: true })
      }
    })

  const start = async (id: string, attempt: Attempt) => {
    const upload = progress.uploadOf(id)
    const file = heldFile(id)
    if (!upload || upload.status !== 'waiting') return
    if (!file) return progress.fail(id, undefined)
    progress.record({ id, status: 'sending' })
    const name = upload.onConflict === 'keepBoth' ? await findFreeName(store.dispatch, upload) : upload.name
    // The upload may have been cancelled, and even retried, during the lookup.
    if (running.get(id) !== attempt || (progress.uploadOf(id)?.status ?? 'cancelled') === 'cancelled') return
    const { dispatch, getState, services } = store
    const outcome = await callWithSession<Outcome>({ dispatch, getState, extra: services }, (token) =>
      transfer(upload, file, name, token, attempt),
    )
    if (outcome.error?.status === 409 && upload.onConflict === 'refuse') events.conflicted(upload)
    else if (outcome.error)
      progress.fail(id, outcome.error.status === 'UNREACHABLE' ? undefined : outcome.error.message)
    else if ('data' in outcome) {
      progress.record({ id, status: 'done', sent: upload.size })
      releaseFile(id)
    }
  }

  const pump = () => {
    while (running.size < PARALLEL) {
      const id = waiting.shift()
      if (id === undefined) break
      // Takes its slot before the request exists.
      const attempt: Attempt = { abort() {} }
      running.set(id, attempt)
      const { batch } = progress.uploadOf(id) ?? { batch: '' }
      void start(id, attempt).then(() => {
        if (running.get(id) === attempt) running.delete(id)
        pump()
        events.ended(batch)
      })
    }
  }

  return {
    /** Adds an upload. It starts with the next `pump`. */
    add: (id: string) => void waiting.push(id),
    /** Starts as many uploads as may run. */
    pump,
    abort(id: string) {
      const at = waiting.indexOf(id)
      if (at !== -1) waiting.splice(at, 1)
      running.get(id)?.abort()
    },
    /** The uploads that wait or are in flight. */
    ids: () => [...waiting, ...running.keys()],
  }
}

import type { OnConflict } from '../../../../contract/file'
import { basePath } from '../../../basePath'

export type UploadRequest = {
  file: Blob
  name: string
  /** Absolute path in the API. */
  directory: string
  onConflict: OnConflict
  token: string | undefined
}
export type UploadListener = {
  /** Bytes sent so far, including the multipart overhead. */
  sent(bytes: number): void
  answered(status: number, text: string): void
  failed(): void
}
/** Starts the request and returns a function that aborts it. After an abort the listener is not called any more. */
export type SendUpload = (request: UploadRequest, listener: UploadListener) => () => void

/** Uses XMLHttpRequest, because `fetch` reports no upload progress. The browser streams the file from disk. */
export const sendUpload: SendUpload = ({ file, name, directory, onConflict, token }, listener) => {
  const form = new FormData()
  // The order matters: the server needs the fields before the file.
  form.append('path', directory)
  form.append('onConflict', onConflict)
  // Sent separately, because browsers percent-encode quotes in the multipart file name.
  form.append('names', JSON.stringify([name]))
  form.append('files', file, name)

  const request = new XMLHttpRequest()
  request.open('POST', `${basePath()}/api/sftp/upload`)
  request.setRequestHeader('accept', 'application/json')
  if (token) request.setRequestHeader('authorization', `Bearer ${token}`)
  request.upload.onprogress = ({ loaded }) => listener.sent(loaded)
  request.onload = () => listener.answered(request.status, request.responseText)
  request.onerror = () => listener.failed()
  request.send(form)
  return () => {
    request.onerror = request.onload = request.upload.onprogress = null
    request.abort()
  }
}

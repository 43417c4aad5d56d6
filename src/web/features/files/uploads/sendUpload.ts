import type { OnConflict } from '../../../../contract/file'

export type UploadRequest = {
  file: Blob
  name: string
  /** Where to, on the wire. */
  directory: string
  onConflict: OnConflict
  token: string | undefined
}
export type UploadListener = {
  /** Bytes that left, what wraps the file included. */
  sent(bytes: number): void
  answered(status: number, text: string): void
  failed(): void
}
/** Answers how to break it off; after that the listener is told nothing more. */
export type SendUpload = (request: UploadRequest, listener: UploadListener) => () => void

/** By XMLHttpRequest: `fetch` does not say how much was sent. The browser reads the file as it sends it, however large it is. */
export const sendUpload: SendUpload = ({ file, name, directory, onConflict, token }, listener) => {
  const form = new FormData()
  // In this order: the server decides by the others what to do with the file.
  form.append('path', directory)
  form.append('onConflict', onConflict)
  // Browsers percent-encode quotes in the name of the file itself.
  form.append('names', JSON.stringify([name]))
  form.append('files', file, name)

  const request = new XMLHttpRequest()
  request.open('POST', '/api/sftp/upload')
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

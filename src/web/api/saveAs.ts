/** The browser may still read from it when the click is long over. In milliseconds. */
const KEPT_MS = 60_000

/** Gives a file to the user, as a download. */
export function saveAs(name: string, content: Blob) {
  const url = URL.createObjectURL(content)
  followDownload(url, name)
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}

/** Leaves a download to the browser: it streams to the disk, however large it is. */
export function followDownload(url: string, name: string) {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}

export const saveText = (name: string, text: string, type = 'text/plain') =>
  saveAs(name, new Blob([text], { type: `${type};charset=utf-8` }))

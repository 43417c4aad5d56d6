/** The browser may still read from the URL long after the click. */
const REVOKE_DELAY_MS = 60_000

/** Offers a file to the user as a download. */
export function saveAs(name: string, content: Blob) {
  const url = URL.createObjectURL(content)
  openDownload(url, name)
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_DELAY_MS)
}

/** Lets the browser download a URL, which streams to disk whatever the size. */
export function openDownload(url: string, name: string) {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}

export const saveText = (name: string, text: string, type = 'text/plain') =>
  saveAs(name, new Blob([text], { type: `${type};charset=utf-8` }))

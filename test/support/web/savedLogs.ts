import type { ActionLog } from '../../../src/contract/actionLog'

/** The action logs that the page saves from now on, in place of the browser's downloads, which jsdom lacks. */
export function savedLogs() {
  const saved: { name: string; log: ActionLog }[] = []
  const blobs = new Map<string, Blob>()
  URL.createObjectURL = (blob: Blob) => {
    const url = `blob:${blobs.size}`
    blobs.set(url, blob)
    return url
  }
  URL.revokeObjectURL = (url: string) => void blobs.delete(url)
  HTMLAnchorElement.prototype.click = function (this: HTMLAnchorElement) {
    const { download: name, href } = this
    // Some browsers read it when the click is long over.
    void Promise.resolve()
      .then(() => blobs.get(href)?.text())
      .then((text) => text !== undefined && saved.push({ name, log: JSON.parse(text) as ActionLog }))
  }
  return saved
}

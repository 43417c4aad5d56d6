import type { ActionLog } from '../../../src/contract/actionLog'

/** Captures the action logs that the page saves from now on, because jsdom has no downloads. */
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
    // Some browsers read it long after the click.
    void Promise.resolve()
      .then(() => blobs.get(href)?.text())
      .then((text) => text !== undefined && saved.push({ name, log: JSON.parse(text) as ActionLog }))
  }
  return saved
}

/** `directory` is relative to the drop target; empty for the target itself. */
export type DroppedEntries = {
  /** Parents come before their children. */
  directories: string[]
  files: { file: File; directory: string }[]
  /** Names of entries that the browser could not read. */
  unreadable: string[]
}

/** Returns the dropped files and, recursively, the contents of dropped folders. */
export async function readDroppedEntries(transfer: DataTransfer): Promise<DroppedEntries> {
  const dropped: DroppedEntries = { directories: [], files: [], unreadable: [] }
  // Read before the first `await`: afterwards the browser empties `items`.
  const sources = [...transfer.items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile())
  for (const source of sources) {
    if (source instanceof File) dropped.files.push({ file: source, directory: '' })
    else if (source) await walk(source, '', dropped)
  }
  return dropped
}

async function walk(entry: FileSystemEntry, directory: string, dropped: DroppedEntries): Promise<void> {
  try {
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))
      dropped.files.push({ file, directory })
      return
    }
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`
    const children = await childrenOf(entry as FileSystemDirectoryEntry)
    dropped.directories.push(path)
    for (const child of children) await walk(child, path, dropped)
  } catch {
    dropped.unreadable.push(entry.name)
  }
}

/** `readEntries` returns batches, and an empty one at the end. */
async function childrenOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader()
  const children: FileSystemEntry[] = []
  for (;;) {
    const portion = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (portion.length === 0) return children
    children.push(...portion)
  }
}

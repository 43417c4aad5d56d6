/** `directory` is relative to where it was dropped; empty for there itself. */
export type Dropped = {
  /** Parents before what is in them. */
  directories: string[]
  files: { file: File; directory: string }[]
  /** Names of what the browser could not read. */
  unreadable: string[]
}

/** What was dropped, folders with all that is in them. */
export async function readDrop(transfer: DataTransfer): Promise<Dropped> {
  const dropped: Dropped = { directories: [], files: [], unreadable: [] }
  // Before the first wait: afterwards the browser has forgotten what was dropped.
  const sources = [...transfer.items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile())
  for (const source of sources) {
    if (source instanceof File) dropped.files.push({ file: source, directory: '' })
    else if (source) await walk(source, '', dropped)
  }
  return dropped
}

async function walk(entry: FileSystemEntry, directory: string, dropped: Dropped): Promise<void> {
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

/** The browser hands them out in portions, an empty one at the end. */
async function childrenOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader()
  const children: FileSystemEntry[] = []
  for (;;) {
    const portion = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (portion.length === 0) return children
    children.push(...portion)
  }
}

import type { FileEntry } from '../../../../contract/file'

/** Product §3. */
const ARCHIVE = /\.(tar|gz|zip|rar|7z)$/i

export const isArchived = ({ type, name }: Pick<FileEntry, 'type' | 'name'>) => type !== 'd' && ARCHIVE.test(name)

export type SortKey = 'name' | 'size' | 'modifyTime'
export type Sort = { by: SortKey; descending: boolean }

/** Sort key with natural order: `world2` before `world10`. Intl.Collator takes a second for 100,000 names. */
const naturalKey = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\d+/g, (digits) => {
      const number = digits.replace(/^0+(?=\d)/, '')
      return String(number.length).padStart(3, '0') + number
    })

const compare = <Value extends string | number>(one: Value, other: Value) => (one < other ? -1 : one > other ? 1 : 0)

/** Sorts directories first in either direction (product §2). Ties are sorted by name. */
export function sortEntries(files: readonly FileEntry[], { by, descending }: Sort): FileEntry[] {
  const sign = descending ? -1 : 1
  return files
    .map((file) => ({ file, key: naturalKey(file.name) }))
    .sort((one, other) => {
      const isDirectory = Number(other.file.type === 'd') - Number(one.file.type === 'd')
      if (isDirectory !== 0) return isDirectory
      const names = compare(one.key, other.key) || compare(one.file.name, other.file.name)
      return by === 'name' ? sign * names : sign * compare(one.file[by], other.file[by]) || names
    })
    .map(({ file }) => file)
}

export function filterByName(files: readonly FileEntry[], filter: string): readonly FileEntry[] {
  const wanted = filter.trim().toLowerCase()
  return wanted === '' ? files : files.filter(({ name }) => name.toLowerCase().includes(wanted))
}

/** Only `d` is specified (product §3). Our platform marks links with `l`; others may use any letter for files. */
export const isFile = ({ type }: Pick<FileEntry, 'type'>) => type !== 'd' && type !== 'l'

export const isEditable = (entry: FileEntry) => isFile(entry) && entry.isText && !isArchived(entry)

/** The columns that the table can be sorted by. */
export const columns: readonly { by: SortKey; title: string }[] = [
  { by: 'name', title: 'Name' },
  { by: 'size', title: 'Size' },
  { by: 'modifyTime', title: 'Last Modified' },
]

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

const compare = <Value extends string | number>(a: Value, b: Value) => (a < b ? -1 : a > b ? 1 : 0)

/** Sorts directories first in either direction (product §2). Ties are sorted by name. */
export function sortEntries(files: readonly FileEntry[], { by, descending }: Sort): FileEntry[] {
  const sign = descending ? -1 : 1
  return files
    .map((file) => ({ file, key: naturalKey(file.name) }))
    .sort((a, b) => {
      const isDirectory = Number(b.file.type === 'd') - Number(a.file.type === 'd')
      if (isDirectory !== 0) return isDirectory
      const names = compare(a.key, b.key) || compare(a.file.name, b.file.name)
      return by === 'name' ? sign * names : sign * compare(a.file[by], b.file[by]) || names
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

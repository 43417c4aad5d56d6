import type { SortKey } from './fileEntries'

/** The columns that the table can be sorted by. */
export const columns: readonly { by: SortKey; title: string }[] = [
  { by: 'name', title: 'Name' },
  { by: 'size', title: 'Size' },
  { by: 'modifyTime', title: 'Last Modified' },
]

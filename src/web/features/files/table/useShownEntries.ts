import { useMemo, useState } from 'react'
import { useSelector } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { selectCurrent, selectFilter, selectSort } from '../filesSlice'
import { filterByName, sortEntries } from './fileEntries'

export type ShownEntries = ReturnType<typeof useShownEntries>

/** Sorts and filters the entries of a directory and finds the current one. */
export function useShownEntries(files: FileEntry[]) {
  const sort = useSelector(selectSort)
  const filter = useSelector(selectFilter)
  const current = useSelector(selectCurrent)

  const ordered = useMemo(() => sortEntries(files, sort), [files, sort])
  const shown = useMemo(() => filterByName(ordered, filter), [ordered, filter])
  const indexByPath = useMemo(() => new Map(shown.map(({ path }, index) => [path, index])), [shown])
  const [lastAt, setLastAt] = useState(0)
  const found = indexByPath.get(current ?? '')
  if (found !== undefined && found !== lastAt) setLastAt(found)
  // If the current entry is gone, the one now at its place becomes current.
  const at = found ?? Math.max(0, Math.min(lastAt, shown.length - 1))
  return {
    /** All entries in the chosen order. */
    ordered,
    /** The entries that match the filter. */
    shown,
    /** The index of an entry among the shown ones. */
    indexOf: (path: string | null | undefined) => indexByPath.get(path ?? ''),
    /** The index of the current entry. */
    at,
  }
}

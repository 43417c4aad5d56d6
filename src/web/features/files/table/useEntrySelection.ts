import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { allSelected, entryToggled, rangeSelected, selectAnchor, selectPathSet } from '../selectionSlice'
import type { ShownEntries } from './useShownEntries'

export type EntrySelection = ReturnType<typeof useEntrySelection>

/** The selected entries of the table. */
export function useEntrySelection({ ordered, shown, indexOf }: ShownEntries) {
  const selected = useSelector(selectPathSet)
  const anchor = useSelector(selectAnchor)
  const dispatch = useDispatch()
  const toggle = ({ path }: FileEntry) => void dispatch(entryToggled(path))

  return {
    has: ({ path }: FileEntry) => selected.has(path),
    hasAnchor: anchor !== null,
    toggle,
    selectAll: () => void dispatch(allSelected(shown.map(({ path }) => path))),
    /** Selects the entries from the anchor to this one. */
    selectRange(index: number) {
      const from = indexOf(anchor) ?? index
      const range = shown.slice(Math.min(from, index), Math.max(from, index) + 1).map(({ path }) => path)
      // With Shift and no anchor, the entry that was reached becomes the start of the next range.
      const start = shown[index]
      if (anchor === null && start && !selected.has(start.path)) toggle(start)
      else dispatch(rangeSelected(range))
    },
    /** All selected entries if this one is among them, or else this one. */
    selectedOr: (entry: FileEntry) =>
      selected.has(entry.path) ? ordered.filter(({ path }) => selected.has(path)) : [entry],
  }
}

import type { KeyboardEvent, MouseEvent, RefObject } from 'react'
import { useLayoutEffect, useRef } from 'react'
import { useDispatch } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { entryFocused } from '../filesSlice'
import type { FileActions } from '../useFileActions'
import type { EntrySelection } from './useEntrySelection'
import type { ShownEntries } from './useShownEntries'

/** Returns the new index for each navigation key. May be out of range. */
const navigationKeys: Record<string, (at: number, page: number, last: number) => number> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at, page) => at + page,
  PageUp: (at, page) => at - page,
  Home: () => 0,
  End: (_at, _page, last) => last,
}

type Table = {
  entries: ShownEntries
  selection: EntrySelection
  actions: FileActions
  pane: RefObject<HTMLElement | null>
  rows: { page: number; scrollTo: (index: number) => void }
}

/** Handles keys and clicks on the rows of the table, and moves the focus. */
export function useTableInput({ entries, selection, actions, pane, rows }: Table) {
  const { shown, indexOf, at } = entries
  const dispatch = useDispatch()

  const isFocusPending = useRef(false)
  // The focused row may have been unmounted while it was outside the window.
  useLayoutEffect(() => {
    if (isFocusPending.current)
      pane.current?.querySelector<HTMLElement>(`[aria-rowindex="${at + 2}"]`)?.focus({ preventScroll: true })
    isFocusPending.current = false
  })
  const focusEntry = (index: number) => {
    const entry = shown[index]
    if (!entry) return
    isFocusPending.current = true
    dispatch(entryFocused(entry.path))
    rows.scrollTo(index)
  }

  const step = (event: KeyboardEvent, entry: FileEntry, move: (typeof navigationKeys)[string]) => {
    const to = Math.min(shown.length - 1, Math.max(0, move(at, rows.page, shown.length - 1)))
    if (event.shiftKey) {
      if (!selection.hasAnchor && !selection.has(entry)) selection.toggle(entry)
      selection.selectRange(to)
    }
    focusEntry(to)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const entry = shown[at]
    const target = event.target as HTMLElement
    // The row menu handles the arrow keys itself.
    if (!entry || target.closest('.dropdown-menu') || (event.key.startsWith('Arrow') && target.closest('.dropdown')))
      return
    const isOnRow = target.role === 'row'
    const move = navigationKeys[event.key]
    const { ctrlKey, metaKey, key } = event
    if (move && !(ctrlKey || metaKey || event.altKey)) step(event, entry, move)
    else if ((ctrlKey || metaKey) && key.toLowerCase() === 'a') selection.selectAll()
    else if (isOnRow && key === 'Enter') actions.open(entry)
    else if (isOnRow && key === ' ') selection.toggle(entry)
    else if (isOnRow && key === 'Delete') actions.remove(selection.selectedOr(entry))
    else if (isOnRow && key === 'F2') actions.rename(entry)
    else return
    event.preventDefault()
  }

  const indexOfTarget = (target: EventTarget) => {
    const row = (target as Element).closest<HTMLElement>('[data-path]')
    return row ? indexOf(row.dataset.path) : undefined
  }
  const selectRangeAndFocus = (index: number) => {
    selection.selectRange(index)
    focusEntry(index)
  }
  // In the capture phase, before the link or button under the pointer handles the click.
  const onClickCapture = (event: MouseEvent) => {
    const index = indexOfTarget(event.target)
    // Preventing the click of a checkbox would reset its state, so FileRow selects the range itself.
    if (index === undefined || !event.shiftKey || event.target instanceof HTMLInputElement) return
    event.preventDefault()
    event.stopPropagation()
    selectRangeAndFocus(index)
  }
  const onClick = (event: MouseEvent) => {
    const entry = shown[indexOfTarget(event.target) ?? -1]
    if (
      !entry ||
      event.defaultPrevented ||
      (event.target as Element).closest('a, button, input, label, .dropdown-menu')
    )
      return
    if (event.ctrlKey || event.metaKey) selection.toggle(entry)
    else actions.open(entry)
  }
  return { handlers: { onKeyDown, onClickCapture, onClick }, selectRangeAndFocus }
}

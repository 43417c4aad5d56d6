import type { KeyboardEvent, MouseEvent } from 'react'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { Field } from '../../../ui/form/Field'
import { filterByName, sortEntries } from './fileEntries'
import { FileRow } from './FileRow'
import { entryFocused, filterTyped, selectCurrent, selectFilter, selectSort } from '../filesSlice'
import { allSelected, rangeSelected, selectAnchor, selectPathSet, entryToggled } from '../selectionSlice'
import { TableHead } from './TableHead'
import { useDropTarget } from '../useDropTarget'
import { useFileActions } from '../useFileActions'
import { ROW_HEIGHT_PX, useRowWindow } from './useRowWindow'
import styles from './fileTable.module.scss'

/** Returns the new index for each navigation key. May be out of range. */
const navigationKeys: Record<string, (at: number, page: number, last: number) => number> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at, page) => at + page,
  PageUp: (at, page) => at - page,
  Home: () => 0,
  End: (_at, _page, last) => last,
}

/** Renders the visible rows and the focused one. `aria-rowcount` gives screen readers the total. */
export function FileTable({ directory, files }: { directory: string; files: FileEntry[] }) {
  const sort = useSelector(selectSort)
  const filter = useSelector(selectFilter)
  const current = useSelector(selectCurrent)
  const selected = useSelector(selectPathSet)
  const anchor = useSelector(selectAnchor)
  const dispatch = useDispatch()
  const actions = useFileActions()
  const dropTarget = useDropTarget()

  const ordered = useMemo(() => sortEntries(files, sort), [files, sort])
  const shown = useMemo(() => filterByName(ordered, filter), [ordered, filter])
  const indexByPath = useMemo(() => new Map(shown.map(({ path }, index) => [path, index])), [shown])
  const [pane, rows] = useRowWindow(shown.length)
  const [lastAt, setLastAt] = useState(0)
  const found = indexByPath.get(current ?? '')
  if (found !== undefined && found !== lastAt) setLastAt(found)
  // If the current entry is gone, the one now at its place becomes current.
  const at = found ?? Math.max(0, Math.min(lastAt, shown.length - 1))

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
  const selectRange = (index: number) => {
    const from = indexByPath.get(anchor ?? '') ?? index
    const range = shown.slice(Math.min(from, index), Math.max(from, index) + 1).map(({ path }) => path)
    // With Shift and no anchor, the entry that was reached becomes the start of the next range.
    const start = shown[index]
    if (anchor === null && start && !selected.has(start.path)) dispatch(entryToggled(start.path))
    else dispatch(rangeSelected(range))
  }
  const selectedOr = (entry: FileEntry) =>
    selected.has(entry.path) ? ordered.filter(({ path }) => selected.has(path)) : [entry]

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const entry = shown[at]
    const target = event.target as HTMLElement
    // The row menu handles the arrow keys itself.
    if (!entry || target.closest('.dropdown-menu') || (event.key.startsWith('Arrow') && target.closest('.dropdown')))
      return
    const isOnRow = target.role === 'row'
    const step = navigationKeys[event.key]
    const { ctrlKey, metaKey, shiftKey, key } = event
    if (step && !(ctrlKey || metaKey || event.altKey)) {
      const to = Math.min(shown.length - 1, Math.max(0, step(at, rows.page, shown.length - 1)))
      if (shiftKey) {
        if (anchor === null) dispatch(entryToggled(entry.path))
        selectRange(to)
      }
      focusEntry(to)
    } else if ((ctrlKey || metaKey) && key.toLowerCase() === 'a') {
      dispatch(allSelected(shown.map(({ path }) => path)))
    } else if (isOnRow && key === 'Enter') actions.open(entry)
    else if (isOnRow && key === ' ') dispatch(entryToggled(entry.path))
    else if (isOnRow && key === 'Delete') actions.remove(selectedOr(entry))
    else if (isOnRow && key === 'F2') actions.rename(entry)
    else return
    event.preventDefault()
  }

  const indexOfTarget = (target: EventTarget) => {
    const row = (target as Element).closest<HTMLElement>('[data-path]')
    return row ? indexByPath.get(row.dataset.path ?? '') : undefined
  }
  const selectRangeAndFocus = (index: number) => {
    selectRange(index)
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
    if (event.ctrlKey || event.metaKey) dispatch(entryToggled(entry.path))
    else actions.open(entry)
  }

  const rendered = rows.rendered(at)
  return (
    <section className={`${styles.table} panel`} aria-label="Files">
      {files.length > 0 && (
        <div className={styles.filter}>
          <Field
            label="Filter by name"
            type="search"
            autoComplete="off"
            spellCheck={false}
            value={filter}
            onChange={(text) => dispatch(filterTyped(text))}
          />
          <p role="status">{filter.trim() !== '' && `${shown.length} of ${files.length}`}</p>
        </div>
      )}
      {files.length === 0 && <p className={styles.empty}>This directory is empty</p>}
      {files.length > 0 && shown.length === 0 && <p className={styles.empty}>No name contains this</p>}
      {shown.length > 0 && (
        <div
          ref={pane}
          className={styles.pane}
          role="grid"
          tabIndex={-1}
          aria-label={`Contents of ${directory}`}
          aria-multiselectable="true"
          aria-rowcount={shown.length + 1}
          aria-colcount={5}
          onKeyDown={onKeyDown}
          onClickCapture={onClickCapture}
          onClick={onClick}
          onScroll={rows.onScroll}
        >
          <TableHead shown={shown} />
          <div role="rowgroup" className={styles.rows} style={{ height: shown.length * ROW_HEIGHT_PX }}>
            {rendered.map((index) => {
              const entry = shown[index]
              return (
                entry && (
                  <FileRow
                    key={entry.path}
                    entry={entry}
                    index={index}
                    isCurrent={index === at}
                    isSelected={selected.has(entry.path)}
                    actions={actions}
                    onTick={(isRange) => (isRange ? selectRangeAndFocus(index) : dispatch(entryToggled(entry.path)))}
                    dropTarget={entry.type === 'd' ? dropTarget(entry.path) : undefined}
                    draggedWith={selectedOr}
                  />
                )
              )
            })}
          </div>
        </div>
      )}
    </section>
  )
}

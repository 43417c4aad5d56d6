import type { KeyboardEvent, MouseEvent } from 'react'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../contract/file'
import { Field } from '../../ui/Field'
import { filtered, sorted } from './entries'
import { FileRow } from './FileRow'
import { entryReached, filterTyped, selectCurrent, selectFilter, selectSort } from './filesSlice'
import { allSelected, rangeSelected, selectAnchor, selectPathSet, toggled } from './selectionSlice'
import { TableHead } from './TableHead'
import { useDropTarget } from './useDropTarget'
import { useFileActions } from './useFileActions'
import { ROW, useRowWindow } from './useRowWindow'
import './fileTable.scss'

/** One row of keys, whichever way they go. */
const steps: Record<string, (at: number, page: number, last: number) => number> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at, page) => at + page,
  PageUp: (at, page) => at - page,
  Home: () => 0,
  End: (_at, _page, last) => last,
}

/** Draws the rows that are seen, and the one that has the focus; readers are told how many there are. */
export function FileTable({ directory, files }: { directory: string; files: FileEntry[] }) {
  const sort = useSelector(selectSort)
  const filter = useSelector(selectFilter)
  const current = useSelector(selectCurrent)
  const selected = useSelector(selectPathSet)
  const anchor = useSelector(selectAnchor)
  const dispatch = useDispatch()
  const actions = useFileActions()
  const dropTarget = useDropTarget()

  const ordered = useMemo(() => sorted(files, sort), [files, sort])
  const shown = useMemo(() => filtered(ordered, filter), [ordered, filter])
  const places = useMemo(() => new Map(shown.map(({ path }, index) => [path, index])), [shown])
  const [pane, rows] = useRowWindow(shown.length)
  const [lastAt, setLastAt] = useState(0)
  const found = places.get(current ?? '')
  if (found !== undefined && found !== lastAt) setLastAt(found)
  // Where the current one was, another takes its place.
  const at = found ?? Math.max(0, Math.min(lastAt, shown.length - 1))

  const reached = useRef(false)
  // The row that had the focus may not be drawn any more.
  useLayoutEffect(() => {
    if (reached.current)
      pane.current?.querySelector<HTMLElement>(`[aria-rowindex="${at + 2}"]`)?.focus({ preventScroll: true })
    reached.current = false
  })

  const reach = (index: number) => {
    const entry = shown[index]
    if (!entry) return
    reached.current = true
    dispatch(entryReached(entry.path))
    rows.show(index)
  }
  const rangeTo = (index: number) => {
    const from = places.get(anchor ?? '') ?? index
    const range = shown.slice(Math.min(from, index), Math.max(from, index) + 1).map(({ path }) => path)
    // What was reached with Shift alone is where the next range begins.
    const start = shown[index]
    if (anchor === null && start && !selected.has(start.path)) dispatch(toggled(start.path))
    else dispatch(rangeSelected(range))
  }
  const selectedOr = (entry: FileEntry) =>
    selected.has(entry.path) ? ordered.filter(({ path }) => selected.has(path)) : [entry]

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const entry = shown[at]
    const target = event.target as HTMLElement
    // The menu and its button have arrows of their own.
    if (!entry || target.closest('.dropdown-menu') || (event.key.startsWith('Arrow') && target.closest('.row-menu')))
      return
    const isOnRow = target.role === 'row'
    const step = steps[event.key]
    const { ctrlKey, metaKey, shiftKey, key } = event
    if (step && !(ctrlKey || metaKey || event.altKey)) {
      const to = Math.min(shown.length - 1, Math.max(0, step(at, rows.page, shown.length - 1)))
      if (shiftKey) {
        if (anchor === null) dispatch(toggled(entry.path))
        rangeTo(to)
      }
      reach(to)
    } else if ((ctrlKey || metaKey) && key.toLowerCase() === 'a') {
      dispatch(allSelected(shown.map(({ path }) => path)))
    } else if (isOnRow && key === 'Enter') actions.open(entry)
    else if (isOnRow && key === ' ') dispatch(toggled(entry.path))
    else if (isOnRow && key === 'Delete') actions.remove(selectedOr(entry))
    else if (isOnRow && key === 'F2') actions.rename(entry)
    else return
    event.preventDefault()
  }

  const entryAt = (target: EventTarget) => {
    const row = (target as Element).closest<HTMLElement>('[data-path]')
    return row ? places.get(row.dataset.path ?? '') : undefined
  }
  const selectTo = (index: number) => {
    rangeTo(index)
    reach(index)
  }
  // Before the link or the button under the pointer hears of it.
  const onClickCapture = (event: MouseEvent) => {
    const index = entryAt(event.target)
    // A box whose tick is prevented would not show what it is told to (FileRow asks for its range by itself).
    if (index === undefined || !event.shiftKey || event.target instanceof HTMLInputElement) return
    event.preventDefault()
    event.stopPropagation()
    selectTo(index)
  }
  const onClick = (event: MouseEvent) => {
    const entry = shown[entryAt(event.target) ?? -1]
    if (
      !entry ||
      event.defaultPrevented ||
      (event.target as Element).closest('a, button, input, label, .dropdown-menu')
    )
      return
    if (event.ctrlKey || event.metaKey) dispatch(toggled(entry.path))
    else actions.open(entry)
  }

  const drawn = rows.drawn(at)
  return (
    <section className="files-table panel" aria-label="Files">
      {files.length > 0 && (
        <div className="files-filter">
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
      {files.length === 0 && <p className="files-empty">This directory is empty</p>}
      {files.length > 0 && shown.length === 0 && <p className="files-empty">No name contains this</p>}
      {shown.length > 0 && (
        <div
          ref={pane}
          className="files-pane"
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
          <div role="rowgroup" className="files-rows" style={{ height: shown.length * ROW }}>
            {drawn.map((index) => {
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
                    onTick={(isRange) => (isRange ? selectTo(index) : dispatch(toggled(entry.path)))}
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

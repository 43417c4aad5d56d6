import type { CSSProperties } from 'react'
import { useDispatch } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { EmptyState } from '../../../ui/EmptyState'
import { FileRow } from './FileRow'
import { FileTools } from '../tools/FileTools'
import { filterTyped } from '../filesSlice'
import { TableHead } from './TableHead'
import { useDropTarget } from '../useDropTarget'
import { useFileActions } from '../useFileActions'
import { useEntrySelection } from './useEntrySelection'
import { useRowHeights } from './useRowHeights'
import { useRowWindow } from './useRowWindow'
import { useShownEntries } from './useShownEntries'
import { useTableInput } from './useTableInput'
import styles from './fileTable.module.scss'

/** Renders the visible rows and the focused one. `aria-rowcount` gives screen readers the total. */
export function FileTable({ directory, files }: { directory: string; files: FileEntry[] }) {
  const entries = useShownEntries(files)
  const { shown, at } = entries
  const selection = useEntrySelection(entries)
  const actions = useFileActions()
  const dropTarget = useDropTarget()
  const heights = useRowHeights()
  const [pane, rows] = useRowWindow(shown.length, heights)
  const { handlers, selectRangeAndFocus } = useTableInput({ entries, selection, actions, pane, rows })

  const dispatch = useDispatch()

  if (files.length === 0)
    return (
      <EmptyState action={<small className={styles.dropHint}>Drop files anywhere on this page to upload them.</small>}>
        This directory is empty
      </EmptyState>
    )
  return (
    <section className={`${styles.table} panel`} aria-label="Files">
      <FileTools shown={shown} total={files.length} />
      {shown.length === 0 && (
        <div className={styles.empty}>
          <p>No name contains this</p>
          <button type="button" className="text-button" onClick={() => dispatch(filterTyped(''))}>
            Clear the filter
          </button>
        </div>
      )}
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
          style={{ '--row-height': `${heights.row}px`, '--head-height': `${heights.head}px` } as CSSProperties}
          {...handlers}
          onScroll={rows.onScroll}
        >
          <TableHead shown={shown} />
          <div role="rowgroup" className={styles.rows} style={{ height: shown.length * heights.row }}>
            {rows.rendered(at).map((index) => {
              const entry = shown[index]
              return (
                entry && (
                  <FileRow
                    key={entry.path}
                    entry={entry}
                    index={index}
                    top={index * heights.row}
                    isCurrent={index === at}
                    isSelected={selection.has(entry)}
                    actions={actions}
                    onTick={(isRange) => (isRange ? selectRangeAndFocus(index) : selection.toggle(entry))}
                    dropTarget={entry.type === 'd' ? dropTarget(entry.path) : undefined}
                    draggedWith={selection.selectedOr}
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

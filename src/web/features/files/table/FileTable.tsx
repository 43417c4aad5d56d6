import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { Field } from '../../../ui/form/Field'
import { FileRow } from './FileRow'
import { filterTyped, selectFilter } from '../filesSlice'
import { TableHead } from './TableHead'
import { useDropTarget } from '../useDropTarget'
import { useFileActions } from '../useFileActions'
import { useEntrySelection } from './useEntrySelection'
import { ROW_HEIGHT_PX, useRowWindow } from './useRowWindow'
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
  const [pane, rows] = useRowWindow(shown.length)
  const { handlers, selectRangeAndFocus } = useTableInput({ entries, selection, actions, pane, rows })

  return (
    <section className={`${styles.table} panel`} aria-label="Files">
      {files.length > 0 && <NameFilter shown={shown.length} total={files.length} />}
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
          {...handlers}
          onScroll={rows.onScroll}
        >
          <TableHead shown={shown} />
          <div role="rowgroup" className={styles.rows} style={{ height: shown.length * ROW_HEIGHT_PX }}>
            {rows.rendered(at).map((index) => {
              const entry = shown[index]
              return (
                entry && (
                  <FileRow
                    key={entry.path}
                    entry={entry}
                    index={index}
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

function NameFilter({ shown, total }: { shown: number; total: number }) {
  const filter = useSelector(selectFilter)
  const dispatch = useDispatch()
  return (
    <div className={styles.filter}>
      <Field
        label="Filter by name"
        type="search"
        autoComplete="off"
        spellCheck={false}
        value={filter}
        onChange={(text) => dispatch(filterTyped(text))}
      />
      <p role="status">{filter.trim() !== '' && `${shown} of ${total}`}</p>
    </div>
  )
}

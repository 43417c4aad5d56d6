import type { ChangeEvent, DragEvent, HTMLAttributes } from 'react'
import { useDispatch } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { formatBytes } from '../../../ui/formatBytes'
import { FileIcon } from './FileIcon'
import { FileName } from './FileName'
import { ModifiedTime } from './ModifiedTime'
import { dragEnded, dragStarted, entryFocused } from '../filesSlice'
import { RowMenu } from './RowMenu'
import type { FileActions } from '../useFileActions'
import styles from './fileTable.module.scss'

type FileRowProps = {
  entry: FileEntry
  index: number
  /** Distance from the first row in pixels. */
  top: number
  /** The one row in the tab order (roving tabindex). */
  isCurrent: boolean
  isSelected: boolean
  actions: FileActions
  /** `isRange`: selects from the anchor to this row. */
  onTick: (isRange: boolean) => void
  dropTarget: HTMLAttributes<HTMLDivElement> | undefined
  /** Returns the entries that a drag of this row moves. */
  draggedWith: (entry: FileEntry) => FileEntry[]
}

/** Distinguishes a drag within the table from files dragged from the desktop. */
export const DRAG_TYPE = 'application/x-quarterdeck-entries'

export function FileRow({
  entry,
  index,
  top,
  isCurrent,
  isSelected,
  actions,
  onTick,
  dropTarget,
  draggedWith,
}: FileRowProps) {
  const dispatch = useDispatch()
  const tabIndex = isCurrent ? 0 : -1

  // A checkbox's change event comes from a click, which has the modifier keys.
  const onChange = ({ nativeEvent }: ChangeEvent) => onTick(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)

  const onDragStart = (event: DragEvent) => {
    const items = draggedWith(entry).map(({ path, name, type }) => ({ path, name, type }))
    event.dataTransfer.setData(DRAG_TYPE, '')
    event.dataTransfer.effectAllowed = 'move'
    dispatch(dragStarted(items))
  }

  return (
    <div
      role="row"
      className={`${styles.row} ${styles.columns}`}
      style={{ top }}
      data-path={entry.path}
      data-row
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      tabIndex={tabIndex}
      draggable
      onFocus={() => !isCurrent && dispatch(entryFocused(entry.path))}
      onDragStart={onDragStart}
      onDragEnd={() => dispatch(dragEnded())}
      {...dropTarget}
    >
      <div role="gridcell">
        <label className={styles.fileCheck}>
          <input
            type="checkbox"
            aria-label={`Select ${entry.name}`}
            tabIndex={tabIndex}
            checked={isSelected}
            onChange={onChange}
          />
        </label>
      </div>
      <div role="gridcell" className={styles.columnName}>
        <FileIcon entry={entry} />
        <FileName entry={entry} tabIndex={tabIndex} onOpen={() => actions.open(entry)} />
      </div>
      <div role="gridcell" className={entry.type === 'd' ? `${styles.columnSize} ${styles.noSize}` : styles.columnSize}>
        {entry.type === 'd' ? <span aria-label="Directory">–</span> : formatBytes(entry.size)}
      </div>
      <div role="gridcell" className={styles.columnModifyTime}>
        <ModifiedTime time={entry.modifyTime} />
      </div>
      <div role="gridcell">
        <RowMenu entry={entry} tabIndex={tabIndex} actions={actions} />
      </div>
    </div>
  )
}

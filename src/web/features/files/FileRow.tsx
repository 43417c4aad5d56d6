import type { ChangeEvent, DragEvent, HTMLAttributes } from 'react'
import { useDispatch } from 'react-redux'
import type { FileEntry } from '../../../contract/file'
import { formatBytes } from '../../ui/formatBytes'
import { FileIcon } from './FileIcon'
import { FileName } from './FileName'
import { dragEnded, dragStarted, entryReached } from './filesSlice'
import { RowMenu } from './RowMenu'
import type { FileActions } from './useFileActions'
import { ROW } from './useRowWindow'

type FileRowProps = {
  entry: FileEntry
  index: number
  /** The one row whose controls the Tab key reaches. */
  isCurrent: boolean
  isSelected: boolean
  actions: FileActions
  /** `isRange`: up to here, from the last one. */
  onTick: (isRange: boolean) => void
  dropTarget: HTMLAttributes<HTMLDivElement> | undefined
  /** What a drag that begins here takes along. */
  draggedWith: (entry: FileEntry) => FileEntry[]
}

/** Tells a drag of ours from one of the desktop's. */
export const DRAG_TYPE = 'application/x-quarterdeck-entries'
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export function FileRow({
  entry,
  index,
  isCurrent,
  isSelected,
  actions,
  onTick,
  dropTarget,
  draggedWith,
}: FileRowProps) {
  const dispatch = useDispatch()
  const tabIndex = isCurrent ? 0 : -1
  // JSON knows no such times as null; file systems know some that no calendar has.
  const modified = new Date(entry.modifyTime).toJSON() as string | null

  // The change of a box is its click, which knows the keys.
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
      className="file-row file-columns"
      style={{ top: index * ROW }}
      data-path={entry.path}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      tabIndex={tabIndex}
      draggable
      onFocus={() => !isCurrent && dispatch(entryReached(entry.path))}
      onDragStart={onDragStart}
      onDragEnd={() => dispatch(dragEnded())}
      {...dropTarget}
    >
      <div role="gridcell">
        <label className="file-check">
          <input
            type="checkbox"
            aria-label={`Select ${entry.name}`}
            tabIndex={tabIndex}
            checked={isSelected}
            onChange={onChange}
          />
        </label>
      </div>
      <div role="gridcell" className="column-name">
        <FileIcon entry={entry} />
        <FileName entry={entry} tabIndex={tabIndex} onOpen={() => actions.open(entry)} />
      </div>
      <div role="gridcell" className="column-size">
        {entry.type === 'd' ? <span aria-label="Directory">–</span> : formatBytes(entry.size)}
      </div>
      <div role="gridcell" className="column-modifyTime">
        {modified ? <time dateTime={modified}>{date.format(entry.modifyTime)}</time> : '–'}
      </div>
      <div role="gridcell">
        <RowMenu entry={entry} tabIndex={tabIndex} actions={actions} />
      </div>
    </div>
  )
}

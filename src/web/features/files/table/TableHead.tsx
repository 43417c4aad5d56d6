import { useEffect, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { Icon } from '../../../ui/Icon'
import type { SortKey } from './fileEntries'
import { selectSort, sortChosen } from '../filesSlice'
import { allSelected, selectionCleared, selectPathSet } from '../selectionSlice'

const columns: { by: SortKey; title: string }[] = [
  { by: 'name', title: 'Name' },
  { by: 'size', title: 'Size' },
  { by: 'modifyTime', title: 'Last Modified' },
]

export function TableHead({ shown }: { shown: readonly FileEntry[] }) {
  const { by: sortedBy, descending } = useSelector(selectSort)
  const selected = useSelector(selectPathSet)
  const dispatch = useDispatch()
  const box = useRef<HTMLInputElement>(null)
  const isAll = selected.size > 0 && shown.every(({ path }) => selected.has(path))
  const isSome = selected.size > 0 && !isAll
  useEffect(() => {
    if (box.current) box.current.indeterminate = isSome
  }, [isSome])

  return (
    <div role="rowgroup" className="files-head-row">
      <div role="row" aria-rowindex={1} className="file-columns">
        <div role="columnheader">
          <label className="file-check">
            <input
              ref={box}
              type="checkbox"
              aria-label="Select all"
              checked={isAll}
              onChange={() => dispatch(isAll ? selectionCleared() : allSelected(shown.map(({ path }) => path)))}
            />
          </label>
        </div>
        {columns.map(({ by, title }) => (
          <div
            key={by}
            role="columnheader"
            className={`column-${by}`}
            aria-sort={sortedBy !== by ? 'none' : descending ? 'descending' : 'ascending'}
          >
            <button type="button" onClick={() => dispatch(sortChosen(by))}>
              {title}
              {sortedBy === by && (
                <span className={descending ? 'sorted descending' : 'sorted'}>
                  <Icon name="chevron" size={14} />
                </span>
              )}
            </button>
          </div>
        ))}
        <div role="columnheader">
          <span className="visually-hidden">Actions</span>
        </div>
      </div>
    </div>
  )
}

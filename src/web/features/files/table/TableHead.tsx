import { useEffect, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { Icon } from '../../../ui/Icon'
import { type SortKey, columns } from './fileEntries'
import { selectSort, sortChosen } from '../filesSlice'
import { allSelected, selectionCleared, selectPathSet } from '../selectionSlice'
import styles from './fileTable.module.scss'

const classNames: Record<SortKey, string | undefined> = {
  name: undefined,
  size: styles.columnSize,
  modifyTime: styles.columnModifyTime,
}

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
    <div role="rowgroup" className={styles.headRow}>
      <div role="row" aria-rowindex={1} className={styles.columns}>
        <div role="columnheader">
          <label className={styles.fileCheck}>
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
            className={classNames[by]}
            aria-sort={sortedBy !== by ? 'none' : descending ? 'descending' : 'ascending'}
          >
            <button type="button" onClick={() => dispatch(sortChosen(by))}>
              {title}
              {sortedBy === by && (
                <span className={descending ? `${styles.sorted} ${styles.descending}` : styles.sorted}>
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

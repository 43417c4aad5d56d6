import { useMemo } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../../contract/file'
import { counted } from '../../../ui/counted'
import { formatBytes } from '../../../ui/formatBytes'
import { SearchField } from '../../../ui/SearchField'
import { filterTyped, selectFilter } from '../filesSlice'
import { DensitySwitch } from './DensitySwitch'
import { isFile } from '../table/fileEntries'
import { SortMenu } from './SortMenu'
import styles from './fileTools.module.scss'

/** The tools above the table: the filter, the number of shown entries, sort order and density. */
export function FileTools({ shown, total }: { shown: readonly FileEntry[]; total: number }) {
  const filter = useSelector(selectFilter)
  const dispatch = useDispatch()
  const size = useMemo(() => sizeOf(shown), [shown])
  return (
    <div className={styles.tools}>
      <SearchField label="Filter by name" text={filter} onChange={(text) => dispatch(filterTyped(text))} />
      <p role="status">
        {filter.trim() === '' ? counted(total, 'item') : `${shown.length} of ${counted(total, 'item')}`}
        {size}
      </p>
      <SortMenu />
      <DensitySwitch />
    </div>
  )
}

/** The size of directories is not known. */
function sizeOf(entries: readonly FileEntry[]) {
  const files = entries.filter(isFile)
  const size = files.reduce((sum, file) => sum + file.size, 0)
  return files.length > 0 && Number.isFinite(size) ? ` · ${formatBytes(size)}` : ''
}

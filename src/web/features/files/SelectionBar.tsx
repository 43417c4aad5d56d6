import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import type { FileEntry } from '../../../contract/file'
import { useDownloadFilesMutation } from '../../api/files'
import { ActionIcon } from '../../ui/ActionIcon'
import { Glyph } from '../../ui/Glyph'
import { Icon } from '../../ui/Icon'
import { filterByName, sortEntries } from './table/fileEntries'
import { selectFilter, selectSort } from './filesSlice'
import { selectionCleared, selectPathSet } from './selectionSlice'
import { useFileActions } from './useFileActions'
import { selectArchiveJobs } from './archiveJobsSlice'
import styles from './selectionBar.module.scss'

const MOVE = 'M4 12h14m-5-5 5 5-5 5M4 5v14'
const DOWNLOAD = 'M12 4v11m-4.5-4.5L12 15l4.5-4.5M4.5 19.5h15'
const ARCHIVE = 'M4 4h16v5H4zM5 9v11h14V9m-8.5 3.5h3'

export function SelectionBar({ files }: { files: FileEntry[] }) {
  const selected = useSelector(selectPathSet)
  const filter = useSelector(selectFilter)
  const sort = useSelector(selectSort)
  const [, { isLoading: downloading }] = useDownloadFilesMutation({ fixedCacheKey: 'download' })
  const archiving = useSelector(selectArchiveJobs).some(({ paths }) => paths.length > 1)
  const actions = useFileActions()
  const dispatch = useDispatch()
  if (selected.size === 0) return null

  const items = files.filter(({ path }) => selected.has(path))
  // Sorted like the table, because dialogs name the first entries.
  const asSeen = () => sortEntries(items, sort)
  const hidden = items.length - filterByName(items, filter).length
  const spinner = <span className="spinner-border spinner-border-sm" aria-hidden="true" />
  return (
    <div className={`${styles.bar} panel`} role="region" aria-label="Selection" data-dock="selection">
      <p role="status">
        {items.length} selected
        {hidden > 0 && <small>{hidden} not shown by the filter</small>}
      </p>
      <div role="group" aria-label="With the selection">
        <Button variant="outline-danger" onClick={() => actions.remove(asSeen())}>
          <ActionIcon name="trash" />
          Delete
        </Button>
        <Button variant="outline-secondary" onClick={() => actions.move(asSeen())}>
          <Glyph path={MOVE} size={18} />
          Move
        </Button>
        <Button
          variant="outline-secondary"
          aria-busy={downloading}
          aria-disabled={downloading}
          onClick={() => !downloading && actions.download(items)}
        >
          {downloading ? spinner : <Glyph path={DOWNLOAD} size={18} />}
          Download
        </Button>
        <Button
          variant="outline-secondary"
          aria-busy={archiving}
          aria-disabled={archiving}
          onClick={() => !archiving && actions.archive(items)}
        >
          {archiving ? spinner : <Glyph path={ARCHIVE} size={18} />}
          Archive
        </Button>
      </div>
      <button
        type="button"
        className={styles.close}
        aria-label="Clear the selection"
        onClick={() => dispatch(selectionCleared())}
      >
        <Icon name="close" />
      </button>
    </div>
  )
}

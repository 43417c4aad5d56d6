import { useEffect, useLayoutEffect, useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { useLocation } from 'react-router-dom'
import { useGetFilesQuery } from '../../api/files'
import { useAccess } from '../../api/useAccess'
import type { ApiFailure } from '../../failure'
import { DraftHints } from '../../drafts/DraftHints'
import { useFocusFallback } from '../../ui/useFocusFallback'
import { Breadcrumb } from './Breadcrumb'
import { DirectoryMissing } from './DirectoryMissing'
import { FileDialogs } from './dialogs/FileDialogs'
import './filesListeners'
import { FilesSkeleton } from './table/FilesSkeleton'
import { FilesToolbar } from './FilesToolbar'
import { FileTable } from './table/FileTable'
import { directoryOpened, fileOpened, selectDialog, selectDirectory } from './filesSlice'
import { OwnDirectories } from './OwnDirectories'
import { SelectionBar } from './SelectionBar'
import { SHARED_ROOT } from '../../../contract/pageRules'
import { baseName, pathOfAddress } from './sharedPath'
import { DropZone } from './uploads/DropZone'
import './uploads/queue/uploadQueue'
import styles from './files.module.scss'

const CURRENT_ROW = '[role="row"][tabindex="0"]'

export function FilesPage() {
  const path = pathOfAddress(useLocation().pathname)
  const directory = useSelector(selectDirectory)
  const { isLimited } = useAccess()
  const dispatch = useDispatch()
  const page = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => void dispatch(directoryOpened(path)), [path, dispatch])
  useFocusFallback(page, useSelector(selectDialog) !== null, fallbackFocus)
  return (
    <div className={styles.files} ref={page}>
      {/* The slice still holds the state of the previous directory until `directoryOpened` is reduced. */}
      {directory === path && (isLimited && path === SHARED_ROOT ? <OwnRoot /> : <Directory path={path} />)}
    </div>
  )
}

function OwnRoot() {
  return (
    <>
      <title>Files · Quarterdeck</title>
      <div className={`page-head ${styles.head}`}>
        <h1 tabIndex={-1}>Files</h1>
      </div>
      <OwnDirectories />
    </>
  )
}

/** Returns the current row, or the heading while there are no rows. */
const fallbackFocus = (page: HTMLElement) => page.querySelector<HTMLElement>(CURRENT_ROW) ?? page.querySelector('h1')

function Directory({ path }: { path: string }) {
  const {
    currentData: listing,
    error,
    isFetching,
    refetch,
  } = useGetFilesQuery(path, { refetchOnMountOrArgChange: true })
  const isBusy = useSelector(selectDialog) !== null
  const isMissing = (error as ApiFailure | undefined)?.status === 404
  const heading = useRef<HTMLHeadingElement>(null)
  const dispatch = useDispatch()
  const isListed = listing !== undefined
  useEffect(() => {
    // The heading kept the focus until the rows were loaded.
    const { current } = heading
    if (isListed && current && current === document.activeElement)
      current.closest<HTMLElement>(`.${styles.files}`)?.querySelector<HTMLElement>(CURRENT_ROW)?.focus()
  }, [isListed])

  return (
    <>
      <title>{`${path === SHARED_ROOT ? '' : `${baseName(path)} · `}Files · Quarterdeck`}</title>
      <div className={`page-head ${styles.head}`}>
        <h1 ref={heading} tabIndex={-1}>
          Files
        </h1>
        <FilesToolbar directory={path} listing={listing} busy={isFetching} usable={!isMissing} onRefresh={refetch} />
      </div>
      <Breadcrumb path={path} />
      <DraftHints
        kind="file"
        renderText={(file) => (
          <>
            You have an unsaved text of <bdi>{baseName(file)}</bdi>
          </>
        )}
        renderAction={({ name: file }) => (
          <Button
            variant="primary"
            size="sm"
            onClick={() => dispatch(fileOpened({ path: file, name: baseName(file), type: '-' }))}
          >
            Open
          </Button>
        )}
      />
      {isMissing && !isFetching && <DirectoryMissing path={path} />}
      {!listing && (isMissing ? isFetching : !error) && <FilesSkeleton />}
      {!listing && error && !isMissing && (
        // The reason is in the problem log only (product §8).
        <div className="empty-state panel">
          <Button variant="outline-secondary" aria-disabled={isFetching} onClick={() => !isFetching && refetch()}>
            Retry
          </Button>
        </div>
      )}
      {listing && !isMissing && <FileTable directory={path} files={listing.files} />}
      {listing && !isMissing && <SelectionBar files={listing.files} />}
      <DropZone directory={path} usable={!isMissing && !isBusy} />
      <FileDialogs directory={path} />
    </>
  )
}

import { useEffect, useLayoutEffect, useRef } from 'react'
import Button from 'react-bootstrap/Button'
import { useDispatch, useSelector } from 'react-redux'
import { useLocation } from 'react-router-dom'
import { useGetFilesQuery } from '../../api/files'
import type { ApiFailure } from '../../api/failure'
import { DraftHints } from '../../drafts/DraftHints'
import { useKeptFocus } from '../../ui/useKeptFocus'
import { Breadcrumb } from './Breadcrumb'
import { DirectoryMissing } from './DirectoryMissing'
import { FileDialogs } from './FileDialogs'
import { FilesSkeleton } from './FilesSkeleton'
import { FilesToolbar } from './FilesToolbar'
import { FileTable } from './FileTable'
import { directoryOpened, fileOpened, selectDialog, selectDirectory } from './filesSlice'
import { SelectionBar } from './SelectionBar'
import { nameOf, pathOfAddress, ROOT } from './sharedPath'
import { DropZone } from './uploads/DropZone'
import './files.scss'

export function FilesPage() {
  const path = pathOfAddress(useLocation().pathname)
  const directory = useSelector(selectDirectory)
  const dispatch = useDispatch()
  const page = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => void dispatch(directoryOpened(path)), [path, dispatch])
  useKeptFocus(page, useSelector(selectDialog) !== null, placeOfFocus)
  return (
    <div className="files" ref={page}>
      {/* What is chosen belongs to the directory that was left. */}
      {directory === path && <Directory path={path} />}
    </div>
  )
}

/** The row that the arrow keys would go on from. Until there is one, the heading. */
const placeOfFocus = (page: HTMLElement) =>
  page.querySelector<HTMLElement>('.file-row[tabindex="0"]') ?? page.querySelector('h1')

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
    // Held for the rows that were still to come.
    const { current } = heading
    if (isListed && current && current === document.activeElement)
      current.closest<HTMLElement>('.files')?.querySelector<HTMLElement>('.file-row[tabindex="0"]')?.focus()
  }, [isListed])

  return (
    <>
      <title>{`${path === ROOT ? 'Files' : nameOf(path)} · Quarterdeck`}</title>
      <div className="page-head files-head">
        <h1 ref={heading} tabIndex={-1}>
          Files
        </h1>
        <FilesToolbar directory={path} listing={listing} busy={isFetching} usable={!isMissing} onRefresh={refetch} />
      </div>
      <Breadcrumb path={path} />
      <DraftHints
        kind="file"
        text={(file) => (
          <>
            You have an unsaved text of <bdi>{nameOf(file)}</bdi>
          </>
        )}
        open={({ name: file }) => (
          <Button
            variant="primary"
            size="sm"
            onClick={() => dispatch(fileOpened({ path: file, name: nameOf(file), type: '-' }))}
          >
            Open
          </Button>
        )}
      />
      {isMissing && !isFetching && <DirectoryMissing path={path} />}
      {!listing && (isFetching || !error) && <FilesSkeleton />}
      {listing && !isMissing && <FileTable directory={path} files={listing.files} />}
      {listing && !isMissing && <SelectionBar files={listing.files} />}
      <DropZone directory={path} usable={!isMissing && !isBusy} />
      <FileDialogs directory={path} />
    </>
  )
}

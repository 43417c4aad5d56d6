import { useNavigate } from 'react-router-dom'
import type { FileEntry } from '../../../contract/file'
import { useAppDispatch, useAppStore } from '../../app/hooks'
import type { EntryRef } from '../../api/files'
import { archivesApi } from '../../api/archives'
import { filesApi } from '../../api/files'
import { failureText, isCancelled } from '../../failure'
import { failureReason, reportProblem } from '../../api/reportProblem'
import { notified } from '../../facts'
import { counted } from '../../ui/counted'
import { isEditable, isFile } from './table/fileEntries'
import { deletionRequested, fileOpened, menuOpened, moveStarted, renameStarted } from './filesSlice'
import { addressOfPath } from './sharedPath'
import type { ArchiveJob } from './archiveJobsSlice'
import { selectArchiveJobs } from './archiveJobsSlice'

export type FileActions = ReturnType<typeof useFileActions>

const refOf = ({ path, name, type }: EntryRef): EntryRef => ({ path, name, type })

/** Actions on entries. Calls continue, and report their result, after the user has left the page. */
export function useFileActions() {
  const dispatch = useAppDispatch()
  const store = useAppStore()
  const navigate = useNavigate()

  // Reads the store, because it knows of a pending call before the next render: a second click may come earlier.
  const isPending = ({ select }: Pick<typeof filesApi.endpoints.downloadFile, 'select'>, fixedCacheKey: string) =>
    select({ fixedCacheKey, requestId: undefined })(store.getState()).isLoading
  const isArchivePending = (kind: ArchiveJob['kind'], items: EntryRef[]) =>
    selectArchiveJobs(store.getState()).some(
      (job) =>
        job.kind === kind &&
        job.paths.length === items.length &&
        job.paths.every((path, at) => path === items[at]?.path),
    )

  /** A cancelled job is not a failure. */
  const reportJobFailure = (error: unknown, failure: string) => {
    if (isCancelled(error)) dispatch(notified('info', failureText(error, 'Cancelled')))
    else dispatch(reportProblem(failure, failureReason(error)))
  }

  return {
    open(entry: FileEntry) {
      if (entry.type === 'd') void navigate(addressOfPath(entry.path))
      else if (isEditable(entry)) dispatch(fileOpened(refOf(entry)))
      // The menu says that the file cannot be edited, and offers to download it.
      else if (isFile(entry)) dispatch(menuOpened(entry.path))
    },
    remove: (items: EntryRef[]) => void dispatch(deletionRequested(items.map(refOf))),
    rename: (item: EntryRef) => void dispatch(renameStarted(refOf(item))),
    move: (items: EntryRef[]) => void dispatch(moveStarted(items.map(refOf))),

    async download(items: EntryRef[]) {
      const [only, ...others] = items.filter(({ type }) => type !== 'l').map(refOf)
      if (!only) return
      const isSingle = others.length === 0
      if (isSingle && isFile(only)) {
        const fixedCacheKey = `download ${only.path}`
        if (isPending(filesApi.endpoints.downloadFile, fixedCacheKey)) return
        const call = dispatch(filesApi.endpoints.downloadFile.initiate(only, { fixedCacheKey }))
        const { error } = await call
        call.reset()
        if (error)
          dispatch(reportProblem(`Failed to download ${only.name}`, failureReason(error), 'Failed to download file'))
        return
      }
      if (isPending(filesApi.endpoints.downloadFiles, 'download')) return
      // The fixed key lets the selection bar show the pending state.
      const { error } = await dispatch(
        filesApi.endpoints.downloadFiles.initiate(
          { items: [only, ...others], as: isSingle ? `${only.name}.zip` : 'files.zip' },
          { fixedCacheKey: 'download' },
        ),
      )
      if (error) dispatch(reportProblem('Failed to download files', failureReason(error)))
    },

    async archive(items: EntryRef[]) {
      if (isArchivePending('archive', items)) return
      const { data, error } = await dispatch(
        archivesApi.endpoints.archiveFiles.initiate(items.map(refOf), { track: false }),
      )
      if (error) reportJobFailure(error, `Failed to archive ${counted(items.length, 'item')}`)
      else dispatch(notified('success', data[0] ? `Created ${data[0]}` : `Archived ${counted(items.length, 'item')}`))
    },

    async unarchive(item: EntryRef) {
      if (isArchivePending('unarchive', [item])) return
      const { data, error } = await dispatch(
        archivesApi.endpoints.unarchiveFile.initiate(refOf(item), { track: false }),
      )
      if (error) reportJobFailure(error, `Failed to unarchive ${item.name}`)
      else dispatch(notified('success', data[0] ? `Extracted into ${data[0]}` : `Extracted ${item.name}`))
    },
  }
}

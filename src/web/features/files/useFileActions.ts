import { useDispatch, useStore } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import type { FileEntry } from '../../../contract/file'
import type { AppDispatch, RootState } from '../../app/types'
import type { Item } from '../../api/files'
import { filesApi } from '../../api/files'
import { failureText, isCancelled } from '../../api/failure'
import { reasonOf, reportProblem } from '../../api/reportProblem'
import { notified } from '../../facts'
import { counted } from '../../ui/counted'
import { isEditable, isFile } from './entries'
import { deletionAsked, fileOpened, moveStarted, renameStarted } from './filesSlice'
import { addressOfPath } from './sharedPath'
import type { Work } from './worksSlice'

export type FileActions = ReturnType<typeof useFileActions>

const itemOf = ({ path, name, type }: Item): Item => ({ path, name, type })

/** What can be done with entries. Calls go on, and say how they ended, wherever in the console the user is by then. */
export function useFileActions() {
  const dispatch = useDispatch<AppDispatch>()
  const store = useStore<RootState>()
  const navigate = useNavigate()

  // What is under way is not begun again. The store knows at once, the page with its next drawing: two clicks may come before.
  const isUnderWay = ({ select }: Pick<typeof filesApi.endpoints.downloadFile, 'select'>, fixedCacheKey: string) =>
    select({ fixedCacheKey, requestId: undefined })(store.getState()).isLoading
  const isWorkedOn = (kind: Work['kind'], items: Item[]) =>
    store
      .getState()
      .works?.some(
        (work) =>
          work.kind === kind &&
          work.paths.length === items.length &&
          work.paths.every((path, at) => path === items[at]?.path),
      )

  /** A job that somebody cancelled did what it was told. */
  const tellOfJob = (error: unknown, failure: string) => {
    if (isCancelled(error)) dispatch(notified('info', failureText(error, 'Cancelled')))
    else dispatch(reportProblem(failure, reasonOf(error)))
  }

  return {
    open(entry: FileEntry) {
      if (entry.type === 'd') void navigate(addressOfPath(entry.path))
      else if (isEditable(entry)) dispatch(fileOpened(itemOf(entry)))
    },
    remove: (items: Item[]) => void dispatch(deletionAsked(items.map(itemOf))),
    rename: (item: Item) => void dispatch(renameStarted(itemOf(item))),
    move: (items: Item[]) => void dispatch(moveStarted(items.map(itemOf))),

    async download(items: Item[]) {
      const [only, ...others] = items.filter(({ type }) => type !== 'l').map(itemOf)
      if (!only) return
      const isSingle = others.length === 0
      if (isSingle && isFile(only)) {
        const fixedCacheKey = `download ${only.path}`
        if (isUnderWay(filesApi.endpoints.downloadFile, fixedCacheKey)) return
        const call = dispatch(filesApi.endpoints.downloadFile.initiate(only, { fixedCacheKey }))
        const { error } = await call
        call.reset()
        if (error)
          dispatch(reportProblem(`Failed to download ${only.name}`, reasonOf(error), 'Failed to download file'))
        return
      }
      if (isUnderWay(filesApi.endpoints.downloadFiles, 'download')) return
      // The key lets the bar show it, wherever it was begun.
      const { error } = await dispatch(
        filesApi.endpoints.downloadFiles.initiate(
          { items: [only, ...others], as: isSingle ? `${only.name}.zip` : 'files.zip' },
          { fixedCacheKey: 'download' },
        ),
      )
      if (error) dispatch(reportProblem('Failed to download files', reasonOf(error)))
    },

    async archive(items: Item[]) {
      if (isWorkedOn('archive', items)) return
      const { data, error } = await dispatch(
        filesApi.endpoints.archiveFiles.initiate(items.map(itemOf), { track: false }),
      )
      if (error) tellOfJob(error, `Failed to archive ${counted(items.length, 'item')}`)
      else dispatch(notified('success', data[0] ? `Created ${data[0]}` : `Archived ${counted(items.length, 'item')}`))
    },

    async unarchive(item: Item) {
      if (isWorkedOn('unarchive', [item])) return
      const { data, error } = await dispatch(filesApi.endpoints.unarchiveFile.initiate(itemOf(item), { track: false }))
      if (error) tellOfJob(error, `Failed to unarchive ${item.name}`)
      else dispatch(notified('success', data[0] ? `Extracted into ${data[0]}` : `Extracted ${item.name}`))
    },
  }
}

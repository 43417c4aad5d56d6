import { useAppDispatch } from '../../../app/hooks'
import type { EntryRef } from '../../../api/files'
import { filesApi } from '../../../api/files'
import { failureReason, reportProblem } from '../../../api/reportProblem'
import { dragEnded } from '../filesSlice'
import { joinPath } from '../sharedPath'

/** Returns a function that moves entries without a dialog. A failure is reported on any page. */
export function useMove() {
  const dispatch = useAppDispatch()
  return async (items: EntryRef[], directory: string) => {
    dispatch(dragEnded())
    const moves = items.map(({ path, name }) => ({ path, targetPath: joinPath(directory, name) }))
    const { error } = await dispatch(filesApi.endpoints.moveFiles.initiate(moves, { track: false }))
    if (error)
      dispatch(reportProblem(`Failed to move files to ${directory}`, failureReason(error), 'Failed to move files'))
  }
}

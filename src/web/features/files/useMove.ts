import { useDispatch } from 'react-redux'
import type { AppDispatch } from '../../app/types'
import type { Item } from '../../api/files'
import { filesApi } from '../../api/files'
import { reasonOf, reportProblem } from '../../api/reportProblem'
import { dragEnded } from './filesSlice'
import { join } from './sharedPath'

/** Moves entries into a directory without a dialog; a failure is notified of wherever the user is by then. */
export function useMove() {
  const dispatch = useDispatch<AppDispatch>()
  return async (items: Item[], directory: string) => {
    dispatch(dragEnded())
    const moves = items.map(({ path, name }) => ({ path, targetPath: join(directory, name) }))
    const { error } = await dispatch(filesApi.endpoints.moveFiles.initiate(moves, { track: false }))
    if (error) dispatch(reportProblem(`Failed to move files to ${directory}`, reasonOf(error), 'Failed to move files'))
  }
}

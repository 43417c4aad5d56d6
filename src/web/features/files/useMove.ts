import { useDispatch } from 'react-redux'
import type { AppDispatch } from '../../app/types'
import type { Item } from '../../api/files'
import { filesApi } from '../../api/files'
import { notified } from '../../facts'
import { failedNames } from './failedNames'
import { dragEnded } from './filesSlice'
import { join } from './sharedPath'

/** Moves entries into a directory without a dialog; a failure is told wherever the user is by then. */
export function useMove() {
  const dispatch = useDispatch<AppDispatch>()
  return async (items: Item[], directory: string) => {
    dispatch(dragEnded())
    const moves = items.map(({ path, name }) => ({ path, targetPath: join(directory, name) }))
    const { error } = await dispatch(filesApi.endpoints.moveFiles.initiate(moves, { track: false }))
    if (error && 'status' in error && error.status !== 401) dispatch(notified('danger', `Failed to move files: ${failedNames(error)}`))
  }
}

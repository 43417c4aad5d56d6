import { nanoid } from '@reduxjs/toolkit'
import { useDispatch } from 'react-redux'
import { failureReason } from '../../../api/reportProblem'
import { notified, problemLogged } from '../../../facts'
import { counted } from '../../../ui/counted'
import { joinPath } from '../sharedPath'
import type { DroppedEntries } from './droppedFiles'
import { holdFile } from './heldFiles'
import { filesChosen } from './uploadSlice'

/** Returns a function that queues files for upload into a directory. */
export function useUpload(directory: string) {
  const dispatch = useDispatch()
  const under = (relative: string) => (relative === '' ? directory : joinPath(directory, relative))
  return ({ directories, files, unreadable }: DroppedEntries) => {
    if (unreadable.length > 0) {
      dispatch(
        notified(
          'warning',
          `Could not be read: ${unreadable.slice(0, 5).join(', ')}${unreadable.length > 5 ? ` and ${unreadable.length - 5} more` : ''}`,
        ),
      )
      dispatch(
        problemLogged(
          `Failed to read ${counted(unreadable.length, 'file')}`,
          failureReason({ failed: unreadable.map((path) => ({ path })) }),
        ),
      )
    }
    if (files.length === 0 && directories.length === 0) return
    const chosen = files.map(({ file, directory: relative }) => ({
      id: holdFile(file),
      name: file.name,
      size: file.size,
      directory: under(relative),
    }))
    dispatch(filesChosen(nanoid(), chosen, directories.map(under)))
  }
}

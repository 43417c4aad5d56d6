import { nanoid } from '@reduxjs/toolkit'
import { useDispatch } from 'react-redux'
import { reasonOf } from '../../../api/reportProblem'
import { notified, problemMet } from '../../../facts'
import { counted } from '../../../ui/counted'
import { join } from '../sharedPath'
import type { Dropped } from './droppedFiles'
import { holdFile } from './heldFiles'
import { filesChosen } from './uploadSlice'

/** Hands files to the queue, to be put into a directory. */
export function useUpload(directory: string) {
  const dispatch = useDispatch()
  const under = (relative: string) => (relative === '' ? directory : join(directory, relative))
  return ({ directories, files, unreadable }: Dropped) => {
    if (unreadable.length > 0) {
      dispatch(
        notified(
          'warning',
          `Could not be read: ${unreadable.slice(0, 5).join(', ')}${unreadable.length > 5 ? ` and ${unreadable.length - 5} more` : ''}`,
        ),
      )
      dispatch(
        problemMet(
          `Failed to read ${counted(unreadable.length, 'file')}`,
          reasonOf({ failed: unreadable.map((path) => ({ path })) }),
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

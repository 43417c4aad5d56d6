import type { DragEvent } from 'react'
import { useState } from 'react'
import { useSelector } from 'react-redux'
import { parentPath } from './sharedPath'
import { selectDragged } from './filesSlice'
import { useMove } from './dialogs/useMove'

/** Returns a function that gives the props of a drop target for a directory; empty if the drop is not allowed. */
export function useDropTarget() {
  const dragged = useSelector(selectDragged)
  const [over, setOver] = useState<string | null>(null)
  const move = useMove()

  return (directory: string) => {
    // An entry cannot be moved to where it is, or into itself.
    const isOpen =
      dragged.length > 0 &&
      dragged.every(
        ({ path }) => parentPath(path) !== directory && path !== directory && !directory.startsWith(`${path}/`),
      )
    if (!isOpen) return {}
    return {
      'data-drop': over === directory ? 'over' : 'open',
      onDragOver(event: DragEvent) {
        event.preventDefault()
        event.dataTransfer.dropEffect = 'move'
        if (over !== directory) setOver(directory)
      },
      onDragLeave: (event: DragEvent) => {
        if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget)) setOver(null)
      },
      onDrop(event: DragEvent) {
        event.preventDefault()
        event.stopPropagation()
        setOver(null)
        void move(dragged, directory)
      },
    }
  }
}

import type { DragEvent } from 'react'
import { useState } from 'react'
import { useSelector } from 'react-redux'
import { parentOf } from './sharedPath'
import { selectDragged } from './filesSlice'
import { useMove } from './useMove'

/** What an element needs to be a directory that entries of this page can be dropped on. */
export function useDropTarget() {
  const dragged = useSelector(selectDragged)
  const [over, setOver] = useState<string | null>(null)
  const move = useMove()

  return (directory: string) => {
    // Not where they are already, and not into themselves.
    const isOpen =
      dragged.length > 0 &&
      dragged.every(
        ({ path }) => parentOf(path) !== directory && path !== directory && !directory.startsWith(`${path}/`),
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

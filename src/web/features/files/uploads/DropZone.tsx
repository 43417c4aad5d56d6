import { useEffect, useEffectEvent, useState } from 'react'
import { Glyph } from '../../../ui/Glyph'
import { readDroppedEntries } from './droppedFiles'
import { useUpload } from './useUpload'
import styles from './dropZone.module.scss'

const UP = 'M12 20V7m-5 5 5-5 5 5M4.5 4h15'

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false

/** Accepts drops anywhere in the window. If uploads are not possible, a drop must still not navigate to the file. */
export function DropZone({ directory, usable }: { directory: string; usable: boolean }) {
  const [isOver, setIsOver] = useState(false)
  const upload = useUpload(directory)
  const drop = useEffectEvent(async (transfer: DataTransfer) => upload(await readDroppedEntries(transfer)))

  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      if (event.dataTransfer) event.dataTransfer.dropEffect = usable ? 'copy' : 'none'
      setIsOver(usable)
    }
    const onDragLeave = (event: DragEvent) => {
      // `relatedTarget` is null only if the pointer leaves the window.
      if (!event.relatedTarget) setIsOver(false)
    }
    const onDrop = (event: DragEvent) => {
      setIsOver(false)
      if (!hasFiles(event)) return
      event.preventDefault()
      if (usable && event.dataTransfer) void drop(event.dataTransfer)
    }
    window.addEventListener('dragenter', onDragOver)
    window.addEventListener('dragover', onDragOver)
    window.addEventListener('dragleave', onDragLeave)
    window.addEventListener('drop', onDrop)
    return () => {
      window.removeEventListener('dragenter', onDragOver)
      window.removeEventListener('dragover', onDragOver)
      window.removeEventListener('dragleave', onDragLeave)
      window.removeEventListener('drop', onDrop)
    }
  }, [usable])

  return (
    isOver && (
      <div className={styles.overlay}>
        <div>
          <Glyph path={UP} size={40} />
          <p>Drop files here to upload</p>
        </div>
      </div>
    )
  )
}

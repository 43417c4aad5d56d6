import { useEffect, useEffectEvent } from 'react'

/** Handles Ctrl+S and Cmd+S anywhere on the page, instead of the browser's own dialog. */
export function useSaveKey(onSave: () => unknown) {
  const save = useEffectEvent(onSave)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 's' || event.ctrlKey === event.metaKey || event.altKey || event.shiftKey) return
      event.preventDefault()
      if (!event.repeat) save()
    }
    document.addEventListener('keydown', onKeyDown, true)
    return () => document.removeEventListener('keydown', onKeyDown, true)
  }, [])
}

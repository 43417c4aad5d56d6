import { useEffect, useEffectEvent } from 'react'

/** Ctrl+S and Cmd+S, wherever the focus is: the browser's own answer to them is of no use here. */
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

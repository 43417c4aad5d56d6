import type { KeyboardEvent, MouseEvent } from 'react'

/**
 * Props of a button in whose place the next one appears, for another item or action, or that appears where one was
 * pressed, as in a dialog. A double click and a held Enter count once: what they would press then has not been read.
 */
export const oncePerPress = (onPress: (event: MouseEvent) => unknown) => ({
  onKeyDown: (event: KeyboardEvent) => {
    if (event.repeat && event.key === 'Enter') event.preventDefault()
  },
  onClick: (event: MouseEvent) => {
    if (event.detail < 2) onPress(event)
  },
})

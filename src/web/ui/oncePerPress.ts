import type { KeyboardEvent, MouseEvent } from 'react'

/**
 * Props of a button in whose place the next one appears, for another item or action. A double click and a held Enter
 * count once: what they would press then has not been read.
 */
export const oncePerPress = (onPress: () => unknown) => ({
  onKeyDown: (event: KeyboardEvent) => {
    if (event.repeat && event.key === 'Enter') event.preventDefault()
  },
  onClick: ({ detail }: MouseEvent) => {
    if (detail < 2) onPress()
  },
})

import { nanoid } from '@reduxjs/toolkit'

/**
 * Holds texts between the server and a component, by handle: of files, which may be large and may hold passwords, and
 * new API keys. The store, and with it the action log, has only the handle.
 */
const texts = new Map<string, string>()

export function holdText(text: string): string {
  const handle = nanoid()
  texts.set(handle, text)
  return handle
}

/** The number of texts that were not taken yet. */
export const heldTextCount = () => texts.size

/** Returns the text and releases it. Undefined if it was taken before, and in a replay. */
export function takeText(handle: string): string | undefined {
  const text = texts.get(handle)
  texts.delete(handle)
  return text
}

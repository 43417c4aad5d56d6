import { nanoid } from '@reduxjs/toolkit'

/**
 * Texts of files on their way between the server and the editor. They may hold passwords and may be large, so the store,
 * and with it every recording of it, has but a handle.
 */
const texts = new Map<string, string>()

export function holdText(text: string): string {
  const handle = nanoid()
  texts.set(handle, text)
  return handle
}

/** How many are on their way. */
export const held = () => texts.size

/** Once; afterwards, and in a session that is replayed, there is none. */
export function takeText(handle: string): string | undefined {
  const text = texts.get(handle)
  texts.delete(handle)
  return text
}

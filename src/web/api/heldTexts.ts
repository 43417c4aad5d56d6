import { nanoid } from '@reduxjs/toolkit'

/**
 * Holds texts on their way between the server and a component, by handle: content of files, which may be large and
 * contain passwords, and secrets that are shown once. The store, and so the action log, has only the handle.
 */
const texts = new Map<string, { text: string; secrets: readonly string[] }>()

/** @param secrets the secrets in the text, which the action log hides everywhere */
export function holdText(text: string, secrets: readonly string[] = []): string {
  const handle = nanoid()
  texts.set(handle, { text, secrets })
  return handle
}

/** The secrets of a text that was not taken yet. */
export const heldSecrets = (handle: string): readonly string[] => texts.get(handle)?.secrets ?? []

/** A text that was not taken yet. */
export const heldText = (handle: string): string | undefined => texts.get(handle)?.text

/** The number of texts that were not taken yet. */
export const heldTextCount = () => texts.size

/** Returns the text and releases it. Undefined if it was taken before, and in a replay. */
export function takeText(handle: string): string | undefined {
  const held = texts.get(handle)
  texts.delete(handle)
  return held?.text
}

import { nanoid } from '@reduxjs/toolkit'

/** Maps upload ids to their File objects, which cannot be in the store because they are not serialisable. */
const files = new Map<string, File>()

export function holdFile(file: File): string {
  const id = nanoid()
  files.set(id, file)
  return id
}

export const heldFile = (id: string) => files.get(id)
export const releaseFile = (id: string) => void files.delete(id)

import { nanoid } from '@reduxjs/toolkit'

/** The files themselves: the store has but their ids, as it may hold only what a recording of it can hold. */
const files = new Map<string, File>()

export function holdFile(file: File): string {
  const id = nanoid()
  files.set(id, file)
  return id
}

export const fileOf = (id: string) => files.get(id)
export const dropFile = (id: string) => void files.delete(id)

import { readFileSync } from 'node:fs'

/** Enough for a proxy with thousands of players, or a database. */
const MAX_OF_INSTANCE = 16_384

/** The limits of open files of this process; undefined without /proc. */
export function openFileLimits(): { soft: number; hard: number } | undefined {
  let limits: string
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return undefined
  }
  const [, soft, hard] = /^Max open files\s+(\d+)\s+(\d+)/m.exec(limits) ?? []
  return soft === undefined ? undefined : { soft: Number(soft), hard: Number(hard) }
}

/**
 * Limit of open files of each process of an instance. Without privileges it cannot exceed the limit of this process.
 */
export function instanceOpenFiles(): number {
  return Math.min(MAX_OF_INSTANCE, openFileLimits()?.hard ?? MAX_OF_INSTANCE)
}

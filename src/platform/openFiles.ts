import { readFileSync } from 'node:fs'

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

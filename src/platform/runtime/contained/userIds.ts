import { readFileSync } from 'node:fs'
import { errorCodeOf } from '../../errors'
import { FIRST_USER_ID } from '../../share/ownership'
import { replaceJsonFile } from '../jsonFiles'

/**
 * Assigns one unprivileged user id to each deployment (decisions §12), permanently: files on disk carry it.
 * @param file JSON, created with the first id. @throws Node.js errors of the file system, so that ids stay unique.
 */
export function createUserIdAllocator(file: string): (deployment: string) => number {
  let ids: Record<string, number> | undefined

  function read(): Record<string, number> {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return {}
      throw error
    }
  }

  return (deployment) => {
    ids ??= read()
    const known = Object.hasOwn(ids, deployment) ? ids[deployment] : undefined
    if (known !== undefined) return known
    const allocated = Math.max(FIRST_USER_ID, ...Object.values(ids)) + 1
    const next = { ...ids, [deployment]: allocated }
    replaceJsonFile(file, next)
    ids = next
    return allocated
  }
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Whether a program is installed. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, name)))
}

import { execFileSync } from 'node:child_process'

const PROGRAM = `
  const { mkdirSync, writeFileSync } = require('node:fs')
  const [path, levels] = process.argv.slice(1)
  process.chdir(path)
  for (let level = 0; level < Number(levels); level += 1) {
    mkdirSync('d')
    process.chdir('d')
  }
  writeFileSync('leaf.txt', 'leaf')
`

/**
 * Makes nested directories called `d` below `path`, entering each one, so that the whole path may exceed the system's
 * limit.
 */
export function makeDeepTree(path: string, levels: number): void {
  execFileSync(process.execPath, ['-e', PROGRAM, path, String(levels)])
}

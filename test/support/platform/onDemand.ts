import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const CACHE = join(__dirname, '../../../.cache')

/**
 * Installs an npm package that only one test needs, outside the project's own packages, once.
 * @returns the node_modules folder, or undefined where no registry answers.
 */
export function installOnDemand(name: string, version: string): string | undefined {
  const directory = join(CACHE, `${name}-${version}`)
  const modules = join(directory, 'node_modules')
  if (existsSync(join(modules, name, 'package.json'))) return modules
  mkdirSync(directory, { recursive: true })
  try {
    const npm = process.env.npm_execpath
    const [program, first] = npm ? [process.execPath, [npm]] : ['npm', []]
    execFileSync(program, [...first, 'install', '--prefix', directory, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`], { stdio: 'ignore', timeout: 240_000 })
    return modules
  } catch {
    return undefined
  }
}

/** Whether a program can be run here. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((directory) => existsSync(join(directory, name)))
}

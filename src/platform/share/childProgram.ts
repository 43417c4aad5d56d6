import { join } from 'node:path'

/**
 * @param name of a program of the platform, as a path below `platform/` without its extension.
 * @returns the arguments with which Node.js runs it: built, or from its source (development), which needs the TypeScript loader.
 */
export function childProgram(name: string): string[] {
  const platform = join(__dirname, '..')
  return __filename.endsWith('.ts') ? ['--import', 'tsx', join(platform, `${name}.ts`)] : [join(platform, `${name}.js`)]
}

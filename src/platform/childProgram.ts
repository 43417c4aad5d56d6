import { join } from 'node:path'

/**
 * Returns the arguments with which Node.js runs a program: the build, or in development the source.
 * @param name path below `platform/`, without extension
 */
export function childProgram(name: string): string[] {
  const platform = __dirname
  return __filename.endsWith('.ts') ? ['--import', 'tsx', join(platform, `${name}.ts`)] : [join(platform, `${name}.js`)]
}

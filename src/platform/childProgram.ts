import { join } from 'node:path'

/**
 * Returns the arguments with which Node.js runs a program, as a child process or as a worker thread: the build, or in
 * development the source, with `--require` because Node.js 20 ignores `--import` for the file of a worker thread.
 * @param name path below `platform/`, without extension
 */
export function childProgram(name: string): string[] {
  const platform = __dirname
  return __filename.endsWith('.ts')
    ? ['--require', 'tsx/cjs', join(platform, `${name}.ts`)]
    : [join(platform, `${name}.js`)]
}

import { join } from 'node:path'

/** @param name of a program beside this file. @returns what Node.js is started with to run it, built or from its source. */
export function childProgram(name: string): string[] {
  return __filename.endsWith('.ts') ? ['--import', 'tsx', join(__dirname, `${name}.ts`)] : [join(__dirname, `${name}.js`)]
}

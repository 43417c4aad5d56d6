import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createTerminal } from '../terminal/terminal'

/** The version in the package.json that is nearest above this file. */
export function packageVersion(): string {
  let directory = __dirname
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory)
  return (JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string }).version
}

/** Prints the version of the package. */
export function printVersion(isJson: boolean): void {
  const terminal = createTerminal(isJson)
  const version = packageVersion()
  if (isJson) terminal.json({ version })
  else terminal.line(version)
}

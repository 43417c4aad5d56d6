import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PROGRAMS } from '../support/programs'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** A command line with its own directory for what it stores. */
export function commandLine(config: string, environment: Record<string, string> = {}) {
  const { PATH, HOME } = process.env
  const start = (...args: string[]) => {
    const child = spawn(process.execPath, [join(PROGRAMS, 'cli/main.js'), ...args], {
      env: { PATH, HOME, XDG_CONFIG_HOME: config, ...environment },
    })
    const said = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()))
    return { child, said, ended: once(child, 'close').then(([code]) => code as number | null) }
  }
  const runWith = async (input: string, ...args: string[]): Promise<Ended> => {
    const { child, said, ended } = start(...args)
    child.stdin.end(input)
    return { code: await ended, ...said }
  }
  return {
    start,
    runWith,
    run: (...args: string[]) => runWith('', ...args),
    /** @returns what it printed. @throws Error if it fails */
    async ok(...args: string[]): Promise<string> {
      const { code, stdout, stderr } = await runWith('', ...args)
      if (code !== 0) throw new Error(`quarterdeck ${args.join(' ')} ended with ${code}: ${stderr}`)
      return stdout
    },
  }
}

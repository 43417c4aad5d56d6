import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { childProgram } from './childProgram'
import { until } from './until'

export interface RunningProgram {
  child: ChildProcess
  /** Everything it has printed. */
  output: () => { stdout: string; stderr: string }
  exited: Promise<number | null>
}

const running = new Set<ChildProcess>()

/** Kills processes that a failed test has left running. */
export function killLeftovers(): void {
  for (const child of running) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
}

/**
 * Runs a program of the platform in a separate process with only these settings.
 * @param name as a path below `platform/` without its extension.
 * @param under a program and its arguments that runs it, such as `unshare`.
 * @param passed a file descriptor that becomes its descriptor 3.
 * @param given arguments of the program.
 */
export function runProgram(
  name: string,
  settings: Record<string, string>,
  under: string[] = [],
  passed?: number,
  given: string[] = [],
): RunningProgram {
  const { PATH, HOME } = process.env
  const [program = '', ...args] = [...under, process.execPath, ...childProgram(name), ...given]
  const child = spawn(program, args, {
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'pipe', ...(passed === undefined ? [] : [passed])],
  }) as ChildProcessByStdio<null, Readable, Readable>
  running.add(child)
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()))
  return { child, output: () => said, exited: once(child, 'close').then(([code]) => code as number | null) }
}

/** Waits until a platform is ready. @returns its URL. @throws Error with what it has printed if it exits instead */
export async function readyUrl({ child, output, exited }: RunningProgram): Promise<string> {
  const url = () => /ready: (http\S+)/.exec(output().stdout)?.[1]
  const hasExited = () => child.exitCode !== null || child.signalCode !== null
  await until(() => url() ?? hasExited())
  if (url() === undefined) await exited
  const found = url()
  if (found === undefined) throw new Error(output().stderr)
  return found
}

/** Asks a program to end. @returns its exit code */
export function endProgram({ child, exited }: RunningProgram): Promise<number | null> {
  child.kill('SIGTERM')
  return exited
}

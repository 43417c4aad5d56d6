import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { CliError, EXIT } from '../failure'

export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/** Asks for a line on the terminal. @throws CliError after Ctrl+C and Ctrl+D */
export async function ask(question: string): Promise<string> {
  return readLine(question, process.stderr)
}

/** Asks a yes-or-no question. The default is no. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await ask(`${question} [y/N] `))
}

/** Reads a secret: on a terminal a line without echo, else the whole standard input. @throws CliError as `ask` */
export async function readSecret(question: string): Promise<string> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) return (await textOf(stdin)).trim()
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  try {
    return await readLine(question, nowhere)
  } finally {
    stderr.write('\n')
  }
}

/** @param echo receives the typed characters */
async function readLine(question: string, echo: NodeJS.WritableStream): Promise<string> {
  // From here on the terminal's own echo is off.
  const lines = createInterface({ input: process.stdin, output: echo, terminal: true, historySize: 0 })
  const aborted = new AbortController()
  // The event also reports the end of input, after which the question would never resolve.
  lines.on('close', () => aborted.abort())
  try {
    if (echo !== process.stderr) process.stderr.write(question)
    return (await lines.question(question, { signal: aborted.signal })).trim()
  } catch {
    throw new CliError(EXIT.interrupted, '')
  } finally {
    lines.close()
  }
}

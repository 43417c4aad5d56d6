import { createInterface } from 'node:readline/promises'
import { text as textOf } from 'node:stream/consumers'
import { CliError, EXIT } from '../failure'

export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY

/** Asks for a line on the terminal. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const aborted = new AbortController()
  lines.on('SIGINT', () => aborted.abort())
  try {
    return (await lines.question(question, { signal: aborted.signal })).trim()
  } catch {
    throw new CliError(EXIT.interrupted, '')
  } finally {
    lines.close()
  }
}

/** Asks a question whose answer is yes or no, and no by default. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await ask(`${question} [y/N] `))
}

/** Reads a secret: on a terminal without showing it, else the whole standard input. */
export async function readSecret(question: string): Promise<string> {
  const { stdin, stderr } = process
  if (!stdin.isTTY) return (await textOf(stdin)).trim()
  stderr.write(question)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  let secret = ''
  try {
    for await (const chunk of stdin as AsyncIterable<string>)
      for (const character of chunk) {
        if (character === '\r' || character === '\n' || character === '\u0004') return secret.trim()
        if (character === '\u0003') throw new CliError(EXIT.interrupted, '')
        secret = character === '\u007f' || character === '\b' ? secret.slice(0, -1) : secret + character
      }
    return secret.trim()
  } finally {
    stdin.setRawMode(false)
    stderr.write('\n')
  }
}

import { once } from 'node:events'
import { colouredText, jsonText, plainText } from './text'
import { EXIT } from '../failure'

/**
 * The output of a command: results on standard output, everything else on standard error. Printed texts cannot control
 * a terminal.
 */
export interface Terminal {
  /** Whether results are JSON. */
  readonly isJson: boolean
  /** Prints a line of a result. */
  line(text: string): void
  /** Prints a line, with its colours if standard output shows colours. */
  coloured(text: string): void
  json(value: unknown): void
  /** Prints a line for users on standard error. */
  note(text: string): void
  /** Replaces the progress line; undefined removes it. Only on a terminal. */
  progress(text: string | undefined): void
  /** Resolves when standard output was flushed (backpressure). */
  drained(): Promise<void>
}

export function createTerminal(isJson: boolean): Terminal {
  const { stdout, stderr } = process
  const hasColours = stdout.isTTY && !process.env.NO_COLOR
  let isProgressShown = false
  // The pipe's reader may have ended, as after `| head`. No message can be shown then.
  for (const stream of [stdout, stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed))

  const clearProgress = () => {
    if (isProgressShown) stderr.write('\r\u001b[K')
    isProgressShown = false
  }
  const print = (text: string) => {
    clearProgress()
    stdout.write(`${text}\n`)
  }
  return {
    isJson,
    line: (text) => print(plainText(text)),
    coloured: (text) => print(hasColours ? colouredText(text) : plainText(text)),
    json: (value) => print(jsonText(value)),
    note(text) {
      clearProgress()
      for (const line of text.split('\n')) stderr.write(`${plainText(line)}\n`)
    },
    progress(text) {
      if (!stderr.isTTY) return
      clearProgress()
      if (text === undefined) return
      stderr.write(plainText(text).slice(0, Math.max(10, (stderr.columns || 80) - 1)))
      isProgressShown = true
    },
    async drained() {
      if (stdout.writableNeedDrain) await once(stdout, 'drain')
    },
  }
}

/** Prints rows in columns that are as wide as their longest text. */
export function printTable(terminal: Terminal, head: string[], rows: string[][]): void {
  const lines = [head, ...rows].map((row) => row.map(plainText))
  const widths = head.map((_title, column) => Math.max(...lines.map((row) => (row[column] ?? '').length)))
  for (const row of lines)
    terminal.line(
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

import type { Readable } from 'node:stream'

/**
 * Calls back for each line of UTF-8, without its line feed. An incomplete last line is dropped: its writer was killed.
 * Only LF separates lines: names and JSON may contain U+2028, at which readline of Node.js 24 splits.
 */
export function onLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
}

import type { Readable } from 'node:stream'

/**
 * Calls for each line of UTF-8, without its end; for what follows the last end, too, once the stream has ended. Only LF ends one:
 * names and JSON may hold other separators (U+2028), at which readline of Node.js 24 divides.
 */
export function onLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
  stream.on('end', () => {
    if (rest !== '') onLine(rest)
  })
}

import type { Readable } from 'node:stream'

/**
 * Calls for each line of UTF-8, without its end. What follows the last end is dropped: who wrote it was killed in the middle of a line.
 * Only LF ends one: names and JSON may hold other separators (U+2028), at which readline of Node.js 24 divides.
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

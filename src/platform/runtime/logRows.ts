const LINE_FEED = 0x0a

/**
 * Calls back for every complete row of a log: the bytes before a line feed.
 * @returns the offset after the last complete row, where an incomplete one starts.
 */
export function eachRow(buffer: Buffer, onRow: (start: number, end: number) => void): number {
  let start = 0
  for (let end = buffer.indexOf(LINE_FEED); end !== -1; end = buffer.indexOf(LINE_FEED, start)) {
    onRow(start, end)
    start = end + 1
  }
  return start
}

/** Decodes the content of a line. Programs may end lines with CR LF. */
export function lineText(content: Buffer): string {
  const text = content.toString('utf8')
  return text.endsWith('\r') ? text.slice(0, -1) : text
}

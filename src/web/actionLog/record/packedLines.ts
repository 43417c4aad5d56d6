import { maskOutput } from '../../../contract/secrets/maskCommand'
import type { ConsoleLine } from '../../sockets/lineBuffer'

/** How many lines at the start and the end of a burst are kept. */
const HEAD = { lines: 5, characters: 800 }
const TAIL = { lines: 30, characters: 2200 }
const OMITTED: ConsoleLine = Object.freeze({ type: 'message', content: '…' })

/** Lines in a log: a text prefixed with the initial of its type, or a number of omitted lines. */
export type PackedLines = (string | number)[]
const initials = { m: 'message', e: 'error', s: 'system' } as const

/** Packs lines: keeps and masks the first and the last lines, and counts the omitted lines. */
export function packLines(lines: readonly ConsoleLine[]): PackedLines {
  const pack = (line: ConsoleLine) => line.type[0] + maskOutput(line)
  const head = countOf(HEAD, lines.length, (index) => lines[index]!)
  // The last line is always kept, even if it exceeds the limit.
  const tail = Math.max(
    head < lines.length ? 1 : 0,
    countOf(TAIL, lines.length - head, (index) => lines[lines.length - 1 - index]!),
  )
  const omitted = lines.length - head - tail
  return [
    ...lines.slice(0, head).map(pack),
    ...(omitted > 0 ? [omitted] : []),
    ...lines.slice(lines.length - tail).map(pack),
  ]
}

/** Returns how many consecutive lines from the first one are within both limits. */
function countOf(most: typeof HEAD, length: number, lineAt: (index: number) => ConsoleLine): number {
  let count = 0
  for (let characters = 0; count < Math.min(most.lines, length); count++) {
    characters += lineAt(count).content.length
    if (characters > most.characters) break
  }
  return count
}

export function unpackLines(packed: PackedLines): ConsoleLine[] {
  const lines: ConsoleLine[] = []
  for (const entry of packed) {
    if (typeof entry === 'string')
      lines.push(
        Object.freeze({ type: initials[entry[0] as keyof typeof initials] ?? 'message', content: entry.slice(1) }),
      )
    else for (let count = 0; count < entry; count++) lines.push(OMITTED)
  }
  return lines
}

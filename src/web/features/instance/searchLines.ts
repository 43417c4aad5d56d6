import type { ConsoleLine, LineBlock, LineRange } from '../../sockets/lineBuffer'
import { keptBlocks, lineAt } from '../../sockets/lineBuffer'
import { plainText } from './ansi'
import type { Occurrence } from './instanceSlice'

/** The same length as the text, so that a place in one is a place in the other. Some lower-case letters are longer. */
function folded(text: string) {
  const lower = text.toLowerCase()
  if (lower.length === text.length) return lower
  return Array.from(text, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  ).join('')
}

function forEachOccurrence(text: string, query: string, tell: (at: number) => void) {
  const [where, wanted] = [folded(text), folded(query)]
  if (wanted === '') return
  for (let at = where.indexOf(wanted); at !== -1; at = where.indexOf(wanted, at + wanted.length)) tell(at)
}

/** Where a text begins in another, upper or lower case; none overlaps the one before. */
export function occurrencesIn(text: string, query: string) {
  const places: number[] = []
  forEachOccurrence(text, query, (at) => places.push(at))
  return places
}

function countOf(text: string, query: string) {
  let count = 0
  forEachOccurrence(text, query, () => count++)
  return count
}

/** What is searched, the oldest first. Between two parts lines may be missing; no line is in both. */
export type Lines = readonly LineRange[]

const blocksOf = (lines: Lines) => lines.flatMap((part) => [...keptBlocks(part)])

function lineIn(lines: Lines, number: number) {
  for (const part of lines) {
    const line = lineAt(part, number)
    if (line) return line
  }
  return undefined
}

/**
 * Counts the occurrences of a text and steps through them. Lines are read once and their counts remembered, per block in
 * sums, so that new lines cost only themselves; places are looked up when they are asked for, since there may be millions.
 */
export function createSearch(query: string) {
  const counts = new WeakMap<ConsoleLine, number>()
  /** Per block the occurrences before each of its lines, and at the end all. */
  const sums = new WeakMap<LineBlock, Uint32Array>()

  const placesIn = (line: ConsoleLine | undefined) => (line ? occurrencesIn(plainText(line), query) : [])

  const countIn = (line: ConsoleLine) => {
    const known = counts.get(line)
    if (known !== undefined) return known
    const count = countOf(plainText(line), query)
    counts.set(line, count)
    return count
  }

  /** @returns undefined when the time is over; what was read by then stays. */
  const sumsOf = (block: LineBlock, end = Infinity) => {
    const known = sums.get(block)
    if (known) return known
    const made = new Uint32Array(block.length + 1)
    for (const [index, line] of block.entries()) {
      if (performance.now() > end) return undefined
      made[index + 1] = (made[index] ?? 0) + countIn(line)
    }
    sums.set(block, made)
    return made
  }

  /** The nearest line with an occurrence, from a number on in either direction. */
  const lineFrom = (lines: Lines, number: number, step: 1 | -1) => {
    for (const part of step === 1 ? lines : lines.toReversed()) {
      let at = step === 1 ? Math.max(number, part.first) : Math.min(number, part.next - 1)
      for (; at >= part.first && at < part.next; at += step) {
        const line = lineAt(part, at)
        if (line && countIn(line) > 0) return at
      }
    }
    return undefined
  }

  const occurrence = (line: number | undefined, at: number | undefined): Occurrence | undefined =>
    line === undefined || at === undefined ? undefined : { line, at }
  const firstFrom = (lines: Lines, number: number) => {
    const line = lineFrom(lines, number, 1)
    return line === undefined ? undefined : occurrence(line, placesIn(lineIn(lines, line))[0])
  }
  const lastUntil = (lines: Lines, number: number) => {
    const line = lineFrom(lines, number, -1)
    return line === undefined ? undefined : occurrence(line, placesIn(lineIn(lines, line)).at(-1))
  }

  return {
    /**
     * Reads what is not read yet, the newest first, for so many milliseconds at most.
     * @returns whether all is read.
     */
    read(lines: Lines, milliseconds: number) {
      if (query === '') return true
      const end = performance.now() + milliseconds
      return blocksOf(lines)
        .toReversed()
        .every(({ block }) => sumsOf(block, end) !== undefined)
    },

    /** Of what is read. */
    count(lines: Lines) {
      let count = 0
      for (const { block, from } of blocksOf(lines)) {
        const known = sums.get(block)
        if (known) count += (known[block.length] ?? 0) - (known[from] ?? 0)
      }
      return count
    },

    /** The how-many-eth it is, from 1; undefined when lines before it are unread, or it is gone. */
    rank(lines: Lines, { line, at }: Occurrence) {
      const place = placesIn(lineIn(lines, line)).indexOf(at)
      if (place === -1) return undefined
      let before = 0
      for (const { block, number, from } of blocksOf(lines)) {
        if (line < number + from) break
        const known = sums.get(block)
        if (!known) return undefined
        before += (known[Math.min(block.length, line - number)] ?? 0) - (known[from] ?? 0)
      }
      return before + place + 1
    },

    /** The next one, and after the last the first. Without one to begin at, the newest. */
    newer(lines: Lines, found: Occurrence | null): Occurrence | undefined {
      if (!found) return lastUntil(lines, Infinity)
      const at = placesIn(lineIn(lines, found.line)).find((place) => place > found.at)
      return occurrence(found.line, at) ?? firstFrom(lines, found.line + 1) ?? firstFrom(lines, 0)
    },

    /** The one before, and before the first the last. Without one to begin at, the newest. */
    older(lines: Lines, found: Occurrence | null): Occurrence | undefined {
      if (!found) return lastUntil(lines, Infinity)
      const at = placesIn(lineIn(lines, found.line)).findLast((place) => place < found.at)
      return occurrence(found.line, at) ?? lastUntil(lines, found.line - 1) ?? lastUntil(lines, Infinity)
    },

    /** The nearest one at or before a line, else the nearest after it. */
    upFrom: (lines: Lines, line: number) => lastUntil(lines, line) ?? firstFrom(lines, line + 1),
    /** The nearest line with one at or after a line, else before it; of several in a line the newest. */
    downFrom(lines: Lines, line: number) {
      const at = lineFrom(lines, line, 1)
      return lastUntil(lines, at ?? line)
    },
  }
}

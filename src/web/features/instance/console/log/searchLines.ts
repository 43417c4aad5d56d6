import type { ConsoleLine, LineBlock, LineRange } from '../../../../sockets/lineBuffer'
import { keptBlocks, lineAt } from '../../../../sockets/lineBuffer'
import { plainText } from './ansi'
import type { Match } from '../../instanceSlice'

/** Lower-cases a text without changing its length, so that offsets stay valid: some lower-case forms are longer. */
function folded(text: string) {
  const lower = text.toLowerCase()
  if (lower.length === text.length) return lower
  return Array.from(text, (letter) =>
    letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
  ).join('')
}

function forEachMatch(text: string, query: string, onMatch: (at: number) => void) {
  const [where, wanted] = [folded(text), folded(query)]
  if (wanted === '') return
  for (let at = where.indexOf(wanted); at !== -1; at = where.indexOf(wanted, at + wanted.length)) onMatch(at)
}

/** Returns the offsets of all matches, case-insensitive and without overlaps. */
export function matchesIn(text: string, query: string) {
  const places: number[] = []
  forEachMatch(text, query, (at) => places.push(at))
  return places
}

function countOf(text: string, query: string) {
  let count = 0
  forEachMatch(text, query, () => count++)
  return count
}

/** Ranges to search, the oldest first. Lines may be missing between ranges, but none is in two. */
export type LineRanges = readonly LineRange[]

const blocksOf = (lines: LineRanges) => lines.flatMap((part) => [...keptBlocks(part)])

function lineIn(lines: LineRanges, number: number) {
  for (const part of lines) {
    const line = lineAt(part, number)
    if (line) return line
  }
  return undefined
}

/** Counts of matches, cached per line, and per block as prefix sums. */
function createMatchCounts(query: string) {
  const counts = new WeakMap<ConsoleLine, number>()
  /** Prefix sums per block: the matches before each line, and the total at the end. */
  const sums = new WeakMap<LineBlock, Uint32Array>()

  const countIn = (line: ConsoleLine) => {
    const known = counts.get(line)
    if (known !== undefined) return known
    const count = countOf(plainText(line), query)
    counts.set(line, count)
    return count
  }

  /** @returns undefined if the time is up. Counts per line stay cached. */
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

  return { countIn, sumsOf, knownSumsOf: (block: LineBlock) => sums.get(block) }
}

/**
 * Counts matches and steps through them. Counts are cached per line, and per block as prefix sums, so that new lines
 * cost only themselves. Offsets are computed on demand, since there may be millions.
 */
export function createSearch(query: string) {
  const { countIn, sumsOf, knownSumsOf } = createMatchCounts(query)
  const offsetsIn = (line: ConsoleLine | undefined) => (line ? matchesIn(plainText(line), query) : [])

  /** Returns the nearest line with a match, from a line on in one direction. */
  const lineFrom = (lines: LineRanges, number: number, step: 1 | -1) => {
    for (const part of step === 1 ? lines : lines.toReversed()) {
      let at = step === 1 ? Math.max(number, part.first) : Math.min(number, part.next - 1)
      for (; at >= part.first && at < part.next; at += step) {
        const line = lineAt(part, at)
        if (line && countIn(line) > 0) return at
      }
    }
    return undefined
  }

  const matchAt = (line: number | undefined, at: number | undefined): Match | undefined =>
    line === undefined || at === undefined ? undefined : { line, at }
  const firstMatchFrom = (lines: LineRanges, number: number) => {
    const line = lineFrom(lines, number, 1)
    return line === undefined ? undefined : matchAt(line, offsetsIn(lineIn(lines, line))[0])
  }
  const lastMatchUpTo = (lines: LineRanges, number: number) => {
    const line = lineFrom(lines, number, -1)
    return line === undefined ? undefined : matchAt(line, offsetsIn(lineIn(lines, line)).at(-1))
  }

  return {
    /** Indexes further lines, the newest first, for at most this long. @returns whether all lines are indexed. */
    index(lines: LineRanges, milliseconds: number) {
      if (query === '') return true
      const end = performance.now() + milliseconds
      return blocksOf(lines)
        .toReversed()
        .every(({ block }) => sumsOf(block, end) !== undefined)
    },

    /** Number of matches in the indexed lines. */
    count(lines: LineRanges) {
      let count = 0
      for (const { block, from } of blocksOf(lines)) {
        const known = knownSumsOf(block)
        if (known) count += (known[block.length] ?? 0) - (known[from] ?? 0)
      }
      return count
    },

    /** One-based position among all matches; undefined if the match is gone or earlier lines are not indexed yet. */
    matchNumber(lines: LineRanges, { line, at }: Match) {
      const place = offsetsIn(lineIn(lines, line)).indexOf(at)
      if (place === -1) return undefined
      let before = 0
      for (const { block, number, from } of blocksOf(lines)) {
        if (line < number + from) break
        const known = knownSumsOf(block)
        if (!known) return undefined
        before += (known[Math.min(block.length, line - number)] ?? 0) - (known[from] ?? 0)
      }
      return before + place + 1
    },

    /** The next match; after the last one, the first. Without a current match, the newest. */
    next(lines: LineRanges, current: Match | null): Match | undefined {
      if (!current) return lastMatchUpTo(lines, Infinity)
      const at = offsetsIn(lineIn(lines, current.line)).find((place) => place > current.at)
      return matchAt(current.line, at) ?? firstMatchFrom(lines, current.line + 1) ?? firstMatchFrom(lines, 0)
    },

    /** The previous match; before the first one, the last. Without a current match, the newest. */
    previous(lines: LineRanges, current: Match | null): Match | undefined {
      if (!current) return lastMatchUpTo(lines, Infinity)
      const at = offsetsIn(lineIn(lines, current.line)).findLast((place) => place < current.at)
      return matchAt(current.line, at) ?? lastMatchUpTo(lines, current.line - 1) ?? lastMatchUpTo(lines, Infinity)
    },

    /** The last match at or before a line, else the first one after it. */
    lastUpTo: (lines: LineRanges, line: number) => lastMatchUpTo(lines, line) ?? firstMatchFrom(lines, line + 1),
    /** The last match in the nearest line at or after a line, else the last one before it. */
    nearestFrom(lines: LineRanges, line: number) {
      const at = lineFrom(lines, line, 1)
      return lastMatchUpTo(lines, at ?? line)
    },
  }
}

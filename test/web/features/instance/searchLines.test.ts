/** @jest-environment node */
import { createSearch, matchesIn } from '../../../../src/web/features/instance/console/log/searchLines'
import type { Match } from '../../../../src/web/features/instance/instanceSlice'
import type { LineBuffer } from '../../../../src/web/sockets/lineBuffer'
import { append, emptyBuffer, since } from '../../../../src/web/sockets/lineBuffer'

const linesOf = (...contents: string[]) => contents.map((content) => ({ type: 'message' as const, content }))
const bufferOf = (...contents: string[]) => append(emptyBuffer, linesOf(...contents))
/** Binds a search to a single buffer. */
const over = (
  buffer: LineBuffer,
  { index: read, count, matchNumber: rank, next: newer, previous: older }: ReturnType<typeof createSearch>,
) => ({
  read: (milliseconds: number) => read([buffer], milliseconds),
  count: () => count([buffer]),
  rank: (occurrence: Match) => rank([buffer], occurrence),
  newer: (found: Match | null) => newer([buffer], found),
  older: (found: Match | null) => older([buffer], found),
})
const read = (query: string, buffer: LineBuffer) => {
  const search = over(buffer, createSearch(query))
  expect(search.read(Infinity)).toBe(true)
  return search
}

test('a search counts every match in the kept lines, ignoring case and color codes', () => {
  const buffer = bufferOf('Hello hello', '\u001b[31mhe\u001b[0mllo', 'other', '\u001b[31mm')
  expect(read('HELLO', buffer).count()).toBe(3)
  expect(read('31', buffer).count()).toBe(0)
  expect(read('', buffer).count()).toBe(0)
  const full = append(buffer, linesOf(...Array.from({ length: 4999 }, () => 'filler')))
  expect(read('hello', full).count()).toBe(0)
  expect(read('m', full).count()).toBe(1)
})

test('matches do not overlap, and offsets are correct after letters that grow in lower case', () => {
  expect(matchesIn('aaaa', 'aa')).toEqual([0, 2])
  expect(matchesIn('\u0130\u0130 Key', 'key')).toEqual([3])
  expect(matchesIn('\u{1f600}x', 'X')).toEqual([2])
})

test('next and previous visit every match in order and wrap around', () => {
  const buffer = bufferOf('ab ab', 'none', 'ab', 'x ab')
  const search = read('ab', buffer)
  const all: Match[] = [
    { line: 0, at: 0 },
    { line: 0, at: 3 },
    { line: 2, at: 0 },
    { line: 3, at: 2 },
  ]
  expect(search.newer(null)).toEqual(all[3])
  expect(search.older(null)).toEqual(all[3])
  for (const [index, occurrence] of all.entries()) {
    expect(search.rank(occurrence)).toBe(index + 1)
    expect(search.newer(occurrence)).toEqual(all[(index + 1) % 4])
    expect(search.older(occurrence)).toEqual(all.at(index - 1))
  }
  expect(search.rank({ line: 0, at: 1 })).toBeUndefined()
  expect(read('ab', bufferOf('none')).newer(null)).toBeUndefined()
})

test('next and previous continue among kept lines when the line of the current match is gone', () => {
  const buffer = append(
    bufferOf('ab'),
    linesOf(...Array.from({ length: 5000 }, (_, index) => (index % 2500 === 0 ? 'ab' : 'x'))),
  )
  const search = read('ab', buffer)
  expect(search.count()).toBe(2)
  expect(search.rank({ line: 0, at: 0 })).toBeUndefined()
  expect(search.newer({ line: 0, at: 0 })).toEqual({ line: 1, at: 0 })
  expect(search.older({ line: 0, at: 0 })).toEqual({ line: 2501, at: 0 })
})

test('indexing resumes where its time budget ended, newest lines first', () => {
  const buffer = bufferOf(...Array.from({ length: 1500 }, () => 'needle'))
  const search = over(buffer, createSearch('needle'))
  const now = jest.spyOn(performance, 'now')
  let calls = 0
  // One millisecond per line.
  now.mockImplementation(() => calls++)
  expect(search.read(700)).toBe(false)
  expect(search.count()).toBe(500)
  expect(search.rank({ line: 1400, at: 0 })).toBeUndefined()
  for (let pieces = 1; !search.read(700); pieces++) expect(pieces).toBeLessThan(10)
  now.mockRestore()
  expect(search.count()).toBe(1500)
  expect(search.rank({ line: 1400, at: 0 })).toBe(1401)
})

/** A view stopped after `seen` lines: the visible buffer, and the lines kept since then. */
const partsOf = (seen: number, all: number) => {
  const lines = linesOf(...Array.from({ length: all }, (_, index) => `line ${index}`))
  const shown = append(emptyBuffer, lines.slice(0, seen))
  const live = append(shown, lines.slice(seen))
  return [shown, since(live, seen)]
}

test.each([
  ['without a gap', 1700],
  ['after a gap', 7000],
])('a search spans the visible lines and the lines that arrived since, %s', (_case, all) => {
  const parts = partsOf(700, all)
  const search = createSearch('line')
  expect(search.index(parts, Infinity)).toBe(true)
  const kept = Math.min(5000, all - 700)
  expect(search.count(parts)).toBe(700 + kept)
  const [last, first] = [
    { line: 699, at: 0 },
    { line: all - kept, at: 0 },
  ]
  expect(search.next(parts, last)).toEqual(first)
  expect(search.previous(parts, first)).toEqual(last)
  expect([search.matchNumber(parts, last), search.matchNumber(parts, first)]).toEqual([700, 701])
  expect(search.previous(parts, { line: 0, at: 0 })).toEqual({ line: all - 1, at: 0 })
  expect(search.matchNumber(parts, { line: all - 1, at: 0 })).toBe(700 + kept)
})

test('the nearest match is searched in the given direction first, then in the other', () => {
  const parts = [bufferOf('ab', 'none', 'x', 'ab ab', 'none')]
  const search = createSearch('ab')
  expect(search.lastUpTo(parts, 4)).toEqual({ line: 3, at: 3 })
  expect(search.lastUpTo(parts, 3)).toEqual({ line: 3, at: 3 })
  expect(search.nearestFrom(parts, 1)).toEqual({ line: 3, at: 3 })
  expect(search.nearestFrom(parts, 4)).toEqual({ line: 3, at: 3 })
  const alone = createSearch('x')
  expect(alone.lastUpTo(parts, 1)).toEqual({ line: 2, at: 0 })
  expect(createSearch('y').lastUpTo(parts, 4)).toBeUndefined()
  expect(createSearch('y').nearestFrom(parts, 0)).toBeUndefined()
})

/** @jest-environment node */
import type { ConsoleLine } from '../../../src/web/sockets/lineBuffer'
import {
  allLines,
  append,
  withoutLines,
  emptyBuffer,
  KEPT_LENGTH,
  KEPT_LINES,
  keptBlocks,
  lineAt,
} from '../../../src/web/sockets/lineBuffer'

let made = 0
const lines = (count: number): ConsoleLine[] =>
  Array.from({ length: count }, () => ({ type: 'message', content: String(made++) }))

/** Deterministic, so that failures can be reproduced. */
function randomOf(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % below
  }
}

test.each([1, 2, 3, 4, 5])(
  'decisions §6: the buffer keeps the last 5,000 lines for any chunk sizes (seed %p)',
  (seed) => {
    const random = randomOf(seed)
    let buffer = emptyBuffer
    let all: ConsoleLine[] = []
    for (let step = 0; step < 60; step++) {
      const piece = lines(random(4) === 0 ? random(7000) : random(40))
      buffer = append(buffer, piece)
      all = [...all, ...piece]
      const kept = all.slice(-KEPT_LINES)
      expect(buffer.next).toBe(all.length)
      expect(buffer.next - buffer.first).toBe(kept.length)
      expect(allLines(buffer)).toEqual(kept)
      expect(lineAt(buffer, buffer.first)).toBe(kept[0])
      expect(lineAt(buffer, buffer.next - 1)).toBe(kept.at(-1))
      const middle = buffer.first + Math.floor(kept.length / 2)
      expect(lineAt(buffer, middle)).toBe(all[middle])
      expect(lineAt(buffer, buffer.first - 1)).toBeUndefined()
      expect(lineAt(buffer, buffer.next)).toBeUndefined()
      for (const { block, number, from } of keptBlocks(buffer)) expect(block[from]).toBe(all[number + from])
    }
  },
)

test('decisions §6: appending copies at most one block, whether the buffer is empty or full', () => {
  const full = append(emptyBuffer, lines(KEPT_LINES + 20))
  for (const before of [append(emptyBuffer, lines(20)), full]) {
    const after = append(before, lines(10))
    const copied = after.blocks.filter((block) => !before.blocks.includes(block))
    expect(copied).toHaveLength(1)
    expect(copied[0]!.length).toBeLessThanOrEqual(500)
  }
  expect(full.blocks.flat().length).toBeLessThan(KEPT_LINES + 500)
})

test('append does not mutate the previous buffer', () => {
  const before = append(emptyBuffer, lines(KEPT_LINES))
  const seen = allLines(before)
  append(before, lines(3000))
  expect(allLines(before)).toEqual(seen)
  expect(Object.isFrozen(before.blocks)).toBe(true)
})

test('a cleared buffer is empty and continues its line numbers', () => {
  const before = append(emptyBuffer, lines(700))
  const after = append(withoutLines(before), lines(3))
  expect(allLines(withoutLines(before))).toEqual([])
  expect([after.first, after.next]).toEqual([700, 703])
  expect(lineAt(after, 699)).toBeUndefined()
  expect(lineAt(after, 700)).toBe(allLines(after)[0])
})

test('decisions §6: long lines are kept up to the length limit of the platform, the newest line at any length', () => {
  const long = (letter: string, length = 8192): ConsoleLine => ({ type: 'message', content: letter.repeat(length) })
  let buffer = append(emptyBuffer, lines(100))
  for (let step = 0; step < 60; step++) {
    buffer = append(
      buffer,
      Array.from({ length: 37 }, () => long(String.fromCharCode(97 + (step % 26)))),
    )
    const kept = allLines(buffer)
    expect(buffer.length).toBe(kept.reduce((sum, { content }) => sum + content.length, 0))
    expect(buffer.length).toBeLessThanOrEqual(KEPT_LENGTH)
    expect(lineAt(buffer, buffer.first)).toBe(kept[0])
    expect(lineAt(buffer, buffer.next - 1)).toBe(kept.at(-1))
  }
  expect(buffer.next - buffer.first).toBe(KEPT_LENGTH / 8192)
  // Short lines push out the long ones while there is room.
  buffer = append(buffer, lines(KEPT_LINES))
  expect([buffer.next - buffer.first, buffer.length < 100_000]).toEqual([KEPT_LINES, true])
  buffer = append(buffer, [long('z', KEPT_LENGTH + 1)])
  expect(allLines(buffer).map(({ content }) => content.length)).toEqual([KEPT_LENGTH + 1])
  expect(withoutLines(buffer).length).toBe(0)
})

test('security: a replayed buffer that claims 9e15 lines is not iterated line by line', () => {
  expect(append({ ...emptyBuffer, next: 9e15 }, lines(1))).toMatchObject({ first: 9e15, next: 9e15 + 1 })
})

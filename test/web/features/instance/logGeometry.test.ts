/** @jest-environment node */
import { createGeometry } from '../../../../src/web/features/instance/console/log/logGeometry'
import { allLines, append, emptyBuffer, lineAt } from '../../../../src/web/sockets/lineBuffer'

const bufferOf = (...contents: string[]) =>
  append(
    emptyBuffer,
    contents.map((content) => ({ type: 'message' as const, content })),
  )
const many = (count: number) => bufferOf(...Array.from({ length: count }, (_, index) => 'x'.repeat((index * 7) % 95)))

test('a line takes as many rows as its characters need, at least one, ignoring color codes', () => {
  const geometry = createGeometry(10)
  expect(geometry.total(bufferOf('x'.repeat(10)))).toBe(1)
  expect(geometry.total(bufferOf('x'.repeat(11)))).toBe(2)
  expect(geometry.total(bufferOf('\u001b[31m\u001b[0m'))).toBe(1)
  expect(geometry.total(bufferOf(`\u001b[31m${'x'.repeat(10)}\u001b[0m`))).toBe(1)
  expect(createGeometry(Infinity).total(bufferOf('x'.repeat(5000), 'y'))).toBe(2)
})

test.each([700, 5000, 5321, 9999])('above and lineAt agree with counting for %p lines', (count) => {
  const buffer = many(count)
  const geometry = createGeometry(10)
  let rows = 0
  for (const [index, { content }] of allLines(buffer).entries()) {
    const number = buffer.first + index
    const height = Math.max(1, Math.ceil(content.length / 10))
    if (index % 97 === 0 || index > 4990) {
      expect(geometry.above(buffer, number)).toBe(rows)
      expect(geometry.lineAt(buffer, rows)).toBe(number)
      expect(geometry.lineAt(buffer, rows + height - 1)).toBe(number)
    }
    rows += height
  }
  expect(geometry.total(buffer)).toBe(rows)
  expect(geometry.lineAt(buffer, rows + 100)).toBe(buffer.next - 1)
  expect(geometry.above(buffer, buffer.first - 1)).toBe(0)
})

test('a measured height replaces the estimate, and measure reports only changes', () => {
  const buffer = bufferOf('before', '漢字漢字漢字', 'after')
  const geometry = createGeometry(10)
  expect(geometry.above(buffer, 2)).toBe(2)
  expect(geometry.measure(buffer, 1, 2)).toBe(true)
  expect(geometry.measure(buffer, 1, 2)).toBe(false)
  expect(geometry.measure(buffer, 1, 0)).toBe(false)
  expect(geometry.above(buffer, 2)).toBe(3)
  expect(geometry.total(append(buffer, [{ type: 'message', content: 'later' }]))).toBe(5)
})

test('an empty log has no rows', () => {
  const geometry = createGeometry(10)
  expect(geometry.total(emptyBuffer)).toBe(0)
  expect(lineAt(emptyBuffer, geometry.lineAt(emptyBuffer, 3))).toBeUndefined()
})

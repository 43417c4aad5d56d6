/** @jest-environment node */
import { formatBytes } from '../../../src/web/ui/formatBytes'

test.each([
  [0, '0 Bytes'],
  [1023, '1023 Bytes'],
  [1024, '1.00 KB'],
  [1536, '1.50 KB'],
  [1024 ** 2 - 1, '1.00 MB'],
  [1024 ** 2 - 6000, '1018.14 KB'],
  [7.4 * 1024 ** 2, '7.40 MB'],
  [1024 ** 3, '1.00 GB'],
  [2.346 * 1024 ** 4, '2.35 TB'],
  [5000 * 1024 ** 4, '5000.00 TB'],
])('§9 formatBytes uses units of 1024 and two decimals: %p is %p', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pageBytesOf, usageBySession } from '../../../../src/platform/runtime/local/processes'

const vector = (...pairs: [bigint, bigint][]) => {
  const bytes = Buffer.alloc(16 * pairs.length)
  for (const [at, [key, value]] of pairs.entries()) {
    bytes.writeBigUInt64LE(key, 16 * at)
    bytes.writeBigUInt64LE(value, 16 * at + 8)
  }
  return bytes
}

test('the size of a page is the kernel\'s, which may be 16 or 64 KiB', () => {
  expect(pageBytesOf(vector([16n, 4096n], [6n, 65_536n], [17n, 100n], [0n, 0n]))).toBe(65_536)
  expect(pageBytesOf(Buffer.alloc(0))).toBe(4096)
  expect(pageBytesOf(readFileSync('/proc/self/auxv'))).toBe(Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' })))
})

test('the memory of a session is that of its processes, as the kernel counts it', () => {
  // This test's own session: at least this process is in it.
  const session = Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')[3])
  const used = usageBySession().get(session)!
  expect(used.memoryBytes).toBeGreaterThan(0.8 * process.memoryUsage.rss())
})

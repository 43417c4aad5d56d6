import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { withoutPackages } from '../../../../src/platform/runtime/local/hostClient'
import { pageBytesOf, signalGroup, usageBySession } from '../../../../src/platform/runtime/processes'

const vector = (...pairs: [bigint, bigint][]) => {
  const bytes = Buffer.alloc(16 * pairs.length)
  for (const [at, [key, value]] of pairs.entries()) {
    bytes.writeBigUInt64LE(key, 16 * at)
    bytes.writeBigUInt64LE(value, 16 * at + 8)
  }
  return bytes
}

test('the page size is that of the kernel, which may be 16 or 64 KiB', () => {
  expect(pageBytesOf(vector([16n, 4096n], [6n, 65_536n], [17n, 100n], [0n, 0n]))).toBe(65_536)
  expect(pageBytesOf(Buffer.alloc(0))).toBe(4096)
  expect(pageBytesOf(readFileSync('/proc/self/auxv'))).toBe(
    Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' })),
  )
})

test('the memory of a session is measured as the kernel counts it', () => {
  // The session of this test, which contains at least this process.
  const session = Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')[3])
  const used = usageBySession().get(session)!
  expect(used.memoryBytes).toBeGreaterThan(0.8 * process.memoryUsage.rss())
})

test('a missing process group counts as signalled, and one of another user is reported instead of thrown', () => {
  const kill = jest.spyOn(process, 'kill')
  const refuse = (code: string) =>
    kill.mockImplementationOnce(() => {
      throw Object.assign(new Error(code), { code })
    })
  refuse('ESRCH')
  expect(signalGroup(1, 'SIGTERM')).toBe(true)
  refuse('EPERM')
  expect(signalGroup(1, 'SIGTERM')).toBe(false)
  kill.mockRestore()
})

test('the PATH of instances excludes the executables of our own packages', () => {
  expect(
    withoutPackages(
      '/srv/quarterdeck/node_modules/.bin:/srv/node_modules/.bin:/usr/lib/node_modules/npm/bin/node-gyp-bin:/usr/local/bin:/usr/bin',
    ),
  ).toBe('/usr/local/bin:/usr/bin')
})

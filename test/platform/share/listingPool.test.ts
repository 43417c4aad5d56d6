import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { FileEntry } from '../../../src/contract/file'
import { createJail } from '../../../src/platform/share/jail'
import { AT_ONCE, createListingPool } from '../../../src/platform/share/listing/listingPool'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const share = useTemporaryDirectory()

/** The processes of this one that list directories. */
function listers(): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      const isOurs = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(process.pid)
      return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('listingMain') ? [Number(pid)] : []
    } catch {
      return []
    }
  })
}

test('the time that a directory may take does not count those before it, and who asks for the same meanwhile gets the same', async () => {
  writeFileSync(`${share()}/world`, '')
  const pool = createListingPool(9000)
  const directory = await createJail(share()).openDirectory([])
  const ask = (key: string) => pool.entries(directory, '/nfsshare', share(), key)
  try {
    await ask('warm')
    const [pid] = listers()
    const standStill = async () => {
      process.kill(pid!, 'SIGSTOP')
      await delay(5500)
      process.kill(pid!, 'SIGCONT')
    }
    const first = standStill()
    const asked = Array.from({ length: 3 * AT_ONCE }, (_, index) => ask(String(index)))
    // Those that begin now have to wait as long as those before them.
    const second = asked[AT_ONCE - 1]!.then(standStill)
    expect((await Promise.all(asked)).map(({ count }) => count)).toEqual(asked.map(() => 1))
    await Promise.all([first, second])
    process.kill(pid!, 'SIGSTOP')
    const same = Array.from({ length: 60 }, () => ask('same'))
    process.kill(pid!, 'SIGCONT')
    expect(new Set(await Promise.all(same)).size).toBe(AT_ONCE + 1)
  } finally {
    await directory.close()
    await pool.close()
  }
})

test.each([
  ['SIGKILL', 'Reading the directory was interrupted. Try again.'],
  ['SIGSTOP', 'The shared area does not answer. Check its disk or its mount.'],
] as const)('a listing whose process gets %s fails: %s; the next one works', async (signal, message) => {
  mkdirSync(`${share()}/${signal}`)
  writeFileSync(`${share()}/${signal}/world`, '')
  const pool = createListingPool(5000)
  const directory = await createJail(share()).openDirectory([signal])
  const ask = () =>
    pool.entries(directory, `/nfsshare/${signal}`, share(), 'key').then(
      ({ count }) => count,
      (error: unknown) => error,
    )
  try {
    expect(await ask()).toBe(1)
    const [pid, ...others] = listers()
    expect(others).toEqual([])
    // Stopped first, so that it cannot answer before it is killed.
    process.kill(pid!, 'SIGSTOP')
    const asked = ask()
    if (signal === 'SIGKILL') process.kill(pid!, 'SIGKILL')
    expect(await asked).toMatchObject({ code: 'UNAVAILABLE', message })
    expect(await ask()).toBe(1)
    expect(listers()).not.toContain(pid)
  } finally {
    await directory.close()
    await pool.close()
  }
  expect(listers()).toEqual([])
})

test('a long directory is shared out among the processes, and each entry is listed once', async () => {
  const names = Array.from({ length: 5000 }, (_, index) => `file ${index} – "ü"`)
  mkdirSync(`${share()}/long`)
  for (const name of names) writeFileSync(`${share()}/long/${name}`, name)
  const pool = createListingPool()
  const directory = await createJail(share()).openDirectory(['long'])
  try {
    for (const _ of ['first', 'known to be long']) {
      const { json, count, isTold } = await pool.entries(directory, '/nfsshare/long', share(), 'key')
      const entries = JSON.parse(`[${json.map((part) => Buffer.from(part).toString()).join(',')}]`) as FileEntry[]
      expect(entries.map(({ name }) => name).sort()).toEqual([...names].sort())
      expect(
        entries.every(
          ({ isText, size, path, name }) =>
            isText && size === Buffer.byteLength(name) && path === `/nfsshare/long/${name}`,
        ),
      ).toBe(true)
      expect([count, isTold]).toEqual([5000, true])
    }
    expect(listers().length).toBeGreaterThan(1)
  } finally {
    await directory.close()
    await pool.close()
  }
})

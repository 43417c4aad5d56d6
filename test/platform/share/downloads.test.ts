import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import pino from 'pino'
import { ZipFile } from 'yazl'
import { openFiles } from '../../../src/platform/share/files'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

test('§7 a zip of many entries contains them all, and its entry list holds only unfinished ones', async () => {
  const share = join(directory(), 'share')
  mkdirSync(join(directory(), 'data'))
  const contents: Record<string, string> = {}
  for (let number = 0; number < 1000; number++) {
    const folder = `many/${number % 20}`
    if (number < 20) mkdirSync(join(share, folder, 'empty'), { recursive: true })
    // Empty, stored and compressed entries.
    contents[`${folder}/${number}.txt`] = `${number} `.repeat([0, 1, 1000][number % 3]!)
  }
  for (const [path, content] of Object.entries(contents)) writeFileSync(join(share, path), content)
  const files = await openFiles({
    dataDir: join(directory(), 'data'),
    shareDir: share,
    log: pino({ level: 'silent' }),
    now: Date.now,
  })
  let most = 0
  const add = ZipFile.prototype.addReadStreamLazy
  const watched = jest.spyOn(ZipFile.prototype, 'addReadStreamLazy').mockImplementation(function (
    this: ZipFile & { entries: unknown[] },
    ...given: Parameters<typeof add>
  ) {
    most = Math.max(most, this.entries.length)
    add.apply(this, given)
  })
  try {
    writeFileSync(join(share, 'got.zip'), await buffer(await files.downloads.zip(['/nfsshare/many'])))
    await files.unarchive(1, '/nfsshare/got.zip')
  } finally {
    watched.mockRestore()
    await files.close()
  }
  const found = (await readdir(join(share, 'got'), { recursive: true, withFileTypes: true })).map((entry) => ({
    entry,
    path: join(entry.parentPath, entry.name),
  }))
  expect(
    Object.fromEntries(
      found
        .filter(({ entry }) => entry.isFile())
        .map(({ path }) => [path.slice(share.length + 5), readFileSync(path, 'utf8')]),
    ),
  ).toEqual(contents)
  expect(found.filter(({ entry }) => entry.name === 'empty')).toHaveLength(20)
  expect(most).toBeLessThan(30)
})

test('security 124: a zip leaves out a very long file of which nearly nothing is stored, and says so', async () => {
  const base = join(directory(), 'holes')
  const share = join(base, 'share')
  for (const path of ['data', 'share/world']) mkdirSync(join(base, path), { recursive: true })
  for (const name of ['hole', 'level.dat']) writeFileSync(join(share, 'world', name), 'text')
  await truncate(join(share, 'world/hole'), 100 * 2 ** 30)
  const files = await openFiles({
    dataDir: join(base, 'data'),
    shareDir: share,
    log: pino({ level: 'silent' }),
    now: Date.now,
  })
  try {
    writeFileSync(join(share, 'got.zip'), await buffer(await files.downloads.zip(['/nfsshare/world'])))
    await files.unarchive(1, '/nfsshare/got.zip')
  } finally {
    await files.close()
  }
  expect(await readdir(join(share, 'got/world'))).toEqual(['level.dat'])
  expect(readFileSync(join(share, 'got/not-included.txt'), 'utf8')).toContain('"world/hole" is 100 GiB long')
})

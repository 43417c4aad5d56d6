import { mkdirSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { createJail, type OpenDirectory, type RawName } from '../../../src/platform/share/jail'
import { walkTree } from '../../../src/platform/share/walk'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const share = useTemporaryDirectory()

/** The directory, and between the first and the second look at one of its names something happens to that. */
function changing(directory: OpenDirectory, name: string, change: () => void): OpenDirectory {
  let looks = 0
  const entry = (asked: RawName) => {
    if (asked === name && (looks += 1) === 2) change()
    return directory.entryPath(asked)
  }
  return { ...directory, entryPath: entry as OpenDirectory['entryPath'] }
}

async function walked(directory: OpenDirectory, name: string): Promise<string[]> {
  const paths: string[] = []
  for await (const { path } of walkTree(directory, name)) paths.push(path)
  return paths.sort()
}

test.each([
  ['becomes a directory', (path: string) => (unlinkSync(path), mkdirSync(path))],
  ['is gone', (path: string) => unlinkSync(path)],
])('a link that %s while it is looked at is left out, and what follows is not', async (_what, change) => {
  const path = `${share()}/link`
  rmSync(path, { recursive: true, force: true })
  symlinkSync('x', path)
  const directory = await createJail(share()).openDirectory([])
  try {
    expect(
      await walked(
        changing(directory, 'link', () => change(path)),
        'link',
      ),
    ).toEqual([])
  } finally {
    await directory.close()
  }
})

test('a directory that is removed while it is read is as if it were empty', async () => {
  mkdirSync(`${share()}/tree/gone`, { recursive: true })
  writeFileSync(`${share()}/tree/kept`, '')
  const directory = await createJail(share()).openDirectory([])
  try {
    const paths: string[] = []
    for await (const { path } of walkTree(directory, 'tree')) {
      paths.push(path)
      // Told of before its own entries are read.
      if (path === 'tree/gone') rmdirSync(`${share()}/tree/gone`)
    }
    expect(paths.sort()).toEqual(['tree', 'tree/gone', 'tree/kept'])
  } finally {
    await directory.close()
  }
})

import { mkdirSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { createJail, type OpenDirectory, type RawName } from '../../../src/platform/share/jail'
import { walkTree } from '../../../src/platform/share/walk'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const share = useTemporaryDirectory()

/** Wraps a directory so that `change` runs between the first and the second look at a name. */
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
  ['disappears', (path: string) => unlinkSync(path)],
])('a link that %s during a walk is skipped, and the walk continues', async (_what, change) => {
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

test('a directory removed while it is read counts as empty', async () => {
  mkdirSync(`${share()}/tree/gone`, { recursive: true })
  writeFileSync(`${share()}/tree/kept`, '')
  const directory = await createJail(share()).openDirectory([])
  try {
    const paths: string[] = []
    for await (const { path } of walkTree(directory, 'tree')) {
      paths.push(path)
      // Called before the entries of the directory are read.
      if (path === 'tree/gone') rmdirSync(`${share()}/tree/gone`)
    }
    expect(paths.sort()).toEqual(['tree', 'tree/gone', 'tree/kept'])
  } finally {
    await directory.close()
  }
})

import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filesIn, put, useWriteBack } from '../../support/platform/writtenBack'

const { share, copy, lobby, setMounted, writeBack, writeBackReporting } = useWriteBack()

test('security: a directory that another instance replaced by a link is not written to', async () => {
  const victim = join(share(), 'victim')
  await put(victim, { 'config.yml': 'of the victim' })
  await put(copy(), { 'config.yml': 'mine' })
  await rm(lobby(), { recursive: true })
  await symlink(victim, lobby())
  await expect(writeBack('config.yml')).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await readFile(join(victim, 'config.yml'), 'utf8')).toBe('of the victim')
})

test('security 231: what has a link, a file or a directory in its place is written beside it, also again, and reported', async () => {
  await put(copy(), { 'world/region/1': 'one', 'world/region/2': 'two', 'config.yml': 'text', 'ops.json': 'mine' })
  await put(lobby(), { 'config.yml/inside': 'x', 'treasure/1': 'of another' })
  await symlink('treasure', join(lobby(), 'world'))
  const paths = ['world/region/*', 'config.yml', 'ops.json']
  for (const count of [4, 0]) {
    const { written, summary } = await writeBackReporting(...paths)
    expect(written).toBe(count)
    expect(summary).toBe(
      '"world" is a file or a link in the shared area, not a directory. What is kept of it is in "world (copy)". ' +
        '"config.yml" is a directory in the shared area, not a file. What is kept of it is in "config.yml (copy)".',
    )
  }
  expect(await filesIn(lobby())).toEqual([
    'config.yml (copy)',
    'config.yml/inside',
    'ops.json',
    'treasure/1',
    'world',
    'world (copy)/region/1',
    'world (copy)/region/2',
  ])
})

test('security 231: a link that another instance put beside it as well is not followed, and the next name is taken', async () => {
  await put(copy(), { 'world/level.dat': 'mine', 'config.yml': 'text' })
  await put(lobby(), { 'config.yml/inside': 'x', 'config.yml (copy)/inside': 'x' })
  await mkdir(join(lobby(), 'treasure'))
  for (const name of ['world', 'world (copy)']) await symlink('treasure', join(lobby(), name))
  for (const count of [2, 0]) {
    const { written, summary } = await writeBackReporting('world', 'config.yml')
    expect(written).toBe(count)
    expect(summary).toContain('What is kept of it is in "world (copy) (2)".')
  }
  expect(await filesIn(lobby())).toEqual([
    'config.yml (copy) (2)',
    'config.yml (copy)/inside',
    'config.yml/inside',
    'world',
    'world (copy)',
    'world (copy) (2)/level.dat',
  ])
})

test('security 231: a name that has no room for an addition is shortened in the name beside it', async () => {
  const name = 'ü'.repeat(127)
  await put(copy(), { [`${name}.`]: 'mine' })
  await mkdir(join(lobby(), `${name}.`))
  for (const written of [1, 0]) expect(await writeBack('*')).toBe(written)
  expect(await filesIn(lobby())).toEqual([expect.stringMatching(/^ü{115}~[0-9a-f]{16} \(copy\)$/)])
})

test('security 231: a name that is taken with all others beside it fails the write-back', async () => {
  await put(copy(), { 'world/level.dat': 'mine' })
  await writeFile(join(lobby(), 'world'), '')
  await writeFile(join(lobby(), 'world (copy)'), '')
  for (let count = 2; count <= 20; count += 1) await writeFile(join(lobby(), `world (copy) (${count})`), '')
  await expect(writeBack('world')).rejects.toMatchObject({
    code: 'CONFLICT',
    message:
      '"world" is a file or a link in the shared area, not a directory, and the names beside it are taken as well.',
  })
})

test('two files with long names that begin alike, and whose names are taken, are both kept beside them', async () => {
  const names = ['1', '2'].map((end) => 'a'.repeat(250) + end)
  await put(copy(), Object.fromEntries(names.map((name) => [`world/${name}`, name.slice(-1)])))
  await put(lobby(), Object.fromEntries(names.map((name) => [`world/${name}/inside`, ''])))
  for (const attempt of [2, 0]) {
    const { written, summary } = await writeBackReporting('world')
    expect(written).toBe(attempt)
    expect(summary?.match(/What is kept of it is in "a+[^"]* \(copy\)"/g)).toHaveLength(2)
  }
  const files = (await readdir(join(lobby(), 'world'), { withFileTypes: true })).filter((entry) => entry.isFile())
  const kept = await Promise.all(files.map(({ name }) => readFile(join(lobby(), 'world', name), 'utf8')))
  expect(kept.toSorted()).toEqual(['1', '2'])
})

test('a directory that its deployment has as a new one, after the mount was given up, is written to', async () => {
  await put(copy(), { 'list.txt': 'mine' })
  await put(lobby(), { 'other.txt': '' })
  setMounted('/lobby')
  expect(await writeBack('list.txt')).toBe(1)
  setMounted()
  await rm(lobby(), { recursive: true })
  await mkdir(lobby())
  expect(await writeBack('list.txt')).toBe(1)
})

// An operator names another directory in the definition, because the mount is gone.
test('an empty directory below a mount that is gone is not written to either when its deployment has another one by now', async () => {
  await put(copy(), { 'list.txt': 'mine' })
  setMounted('/lobby')
  await expect(writeBack('list.txt')).rejects.toMatchObject({ code: 'CONFLICT' })
  setMounted()
  await expect(writeBack('list.txt')).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await filesIn(lobby())).toEqual([])
})

import fsPromises, {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import pino from 'pino'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { openBySteps, runAsync, stepCalls } from '../../../src/platform/share/followLinks'
import { createJail } from '../../../src/platform/share/jail'
import { renameNoReplace } from '../../../src/platform/share/changes/placing'

let base: string
let share: string
let files: Files

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'quarterdeck-races-'))
  share = join(base, 'share')
  await mkdir(share)
  await mkdir(join(base, 'data'))
  files = await openFiles({
    dataDir: join(base, 'data'),
    shareDir: share,
    log: pino({ level: 'silent' }),
    now: Date.now,
  })
})
afterAll(async () => {
  await files.close()
  await rm(base, { recursive: true, force: true })
})

/** A new directory for each round. */
async function fresh(name: string, entries: Record<string, string>): Promise<string> {
  await mkdir(join(share, name))
  for (const [entry, content] of Object.entries(entries)) await writeFile(join(share, name, entry), content)
  return `/nfsshare/${name}`
}
const contentsOf = async (name: string) =>
  Promise.all((await readdir(join(share, name))).map((entry) => readFile(join(share, name, entry), 'utf8')))
async function after<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  for (const begun = performance.now(); performance.now() - begun < ms;)
    await new Promise((resolve) => setImmediate(resolve))
  return work()
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  )

test('exactly one of two concurrent moves of a file succeeds, the other gets 404, and the file has one name', async () => {
  for (let round = 0; round < 300; round += 1) {
    const path = await fresh(`moves${round}`, { one: 'text' })
    const codes = await Promise.all(
      ['left', 'right'].map((name) => codeOf(files.changes.move(`${path}/one`, `${path}/${name}`))),
    )
    expect(codes.sort()).toEqual(['NOT_FOUND', 'done'])
    expect(await contentsOf(`moves${round}`)).toEqual(['text'])
  }
}, 60_000)

test('a file that another program renames during a move does not appear under both names', async () => {
  const directory = await createJail(share).openDirectory([])
  try {
    for (let round = 0; round < 300; round += 1) {
      await writeFile(join(share, 'one'), 'text')
      const codes = await Promise.all(
        ['left', 'right'].map((name) => codeOf(renameNoReplace(directory, 'one', directory, name))),
      )
      expect(codes.sort()).toEqual(['ENOENT', 'done'])
      expect((await readdir(share)).filter((name) => ['one', 'left', 'right'].includes(name))).toHaveLength(1)
      await Promise.all(['left', 'right'].map((name) => rm(join(share, name), { force: true })))
    }
  } finally {
    await directory.close()
  }
}, 60_000)

test.each(['of the text that was opened', 'of whatever is there'])(
  'a save %s and a concurrent move lose no saved text',
  async (which) => {
    const isChecked = which === 'of the text that was opened'
    const seen = new Set<string>()
    await fresh(`timed-${isChecked}`, {})
    const begun = performance.now()
    for (let round = 0; round < 20; round += 1)
      await files.textFiles.save({ path: `/nfsshare/timed-${isChecked}/${round}`, content: 'new' })
    const savingMs = (performance.now() - begun) / 20
    for (let round = 0; round < 200; round += 1) {
      const name = `save-${isChecked}-${round}`
      const path = await fresh(name, { one: 'old' })
      const modifyTime = Math.floor((await stat(join(share, name, 'one'))).mtimeMs)
      const [saved, moved] = await Promise.all([
        codeOf(files.textFiles.save({ path: `${path}/one`, content: 'new', ...(isChecked && { modifyTime }) })),
        // Starts a little later each round, so that the move overlaps with every step of the save.
        codeOf(after((round / 150) * savingMs, () => files.changes.move(`${path}/one`, `${path}/two`))),
      ])
      seen.add(`${saved} ${moved}`)
      expect([round, moved, saved]).toEqual([
        round,
        'done',
        expect.stringMatching(isChecked ? /^(?:done|CONFLICT)$/ : /^done$/),
      ])
      expect([round, saved, await contentsOf(name)]).toEqual([
        round,
        saved,
        saved === 'done' ? expect.arrayContaining(['new']) : ['old'],
      ])
    }
    // Both orders have occurred.
    if (isChecked) expect([...seen].sort()).toEqual(['CONFLICT done', 'done done'])
  },
  120_000,
)

test('a concurrent upload over a file and move of it lose neither', async () => {
  for (let round = 0; round < 200; round += 1) {
    const path = await fresh(`upload${round}`, { one: 'old' })
    const upload = files.upload()
    await upload.receive('one', Readable.from([Buffer.from('new')]), path)
    await Promise.all([
      upload.store(path, 'replace'),
      after(round / 50, () => files.changes.move(`${path}/one`, `${path}/two`)),
    ])
    const contents = await contentsOf(`upload${round}`)
    // Either the upload replaced the file before the move, or the file had been moved away.
    expect([round, [...contents].sort()]).toEqual([round, contents.length === 1 ? ['new'] : ['new', 'old']])
  }
}, 60_000)

test('creating a directory and moving one to the same name succeeds for exactly one of them', async () => {
  for (let round = 0; round < 200; round += 1) {
    const path = await fresh(`directories${round}`, {})
    await mkdir(join(share, `directories${round}`, 'from'))
    const codes = await Promise.all([
      codeOf(files.changes.createDirectory(`${path}/to`)),
      codeOf(files.changes.move(`${path}/from`, `${path}/to`)),
    ])
    expect(codes.sort()).toEqual(['NAME_TAKEN', 'done'])
  }
}, 60_000)

test('moves that want each other’s names do not deadlock', async () => {
  for (let round = 0; round < 100; round += 1) {
    const path = await fresh(`circle${round}`, { a: '1', b: '2', c: '3' })
    const moves = [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
      ['b', 'a'],
      ['c', 'd'],
      ['d', 'a'],
    ] as const
    await Promise.all(moves.map(([from, to]) => codeOf(files.changes.move(`${path}/${from}`, `${path}/${to}`))))
    expect((await contentsOf(`circle${round}`)).sort()).toEqual(['1', '2', '3'])
  }
}, 60_000)

/** Follows the entry `swapped` of a directory, a link at first. @param onLink called when it was seen as a link */
async function follow(directory: string, onLink: (path: string) => Promise<unknown>): Promise<string> {
  const path = join(share, directory, 'swapped')
  await symlink('real', path)
  const calls = {
    ...stepCalls,
    async isLink(file: Parameters<typeof stepCalls.isLink>[0]) {
      const isLink = await stepCalls.isLink(file)
      if (isLink) await onLink(path)
      return isLink
    },
  }
  const found = await runAsync(openBySteps(calls, join(share, directory), ['swapped'], { through: () => undefined }))
  return readlink(stepCalls.procPath(found)).finally(() => found.close())
}

test('security 119: a link that becomes a directory while it is followed leads to that directory', async () => {
  await fresh('follow', {})
  const found = await follow('follow', async (path) => {
    await rm(path)
    await mkdir(path)
  })
  expect(found).toBe(join(await realpath(share), 'follow/swapped'))
})

test('security 119: a link that is swapped without end is refused as a link that cannot be followed', async () => {
  await fresh('endless', {})
  const { open } = stepCalls
  let isLink = true
  const opening = jest.spyOn(stepCalls, 'open').mockImplementation(async (path, flags) => {
    if (!isLink && path.endsWith('/swapped')) {
      await rm(join(share, 'endless/swapped'), { recursive: true })
      await symlink('real', join(share, 'endless/swapped'))
      isLink = true
    }
    return open(path, flags)
  })
  const followed = follow('endless', async (path) => {
    await rm(path)
    await mkdir(path)
    isLink = false
  })
  await expect(followed).rejects.toMatchObject({ code: 'ELOOP' })
  opening.mockRestore()
})

describe('security 134: a file that another program replaces or removes while it is opened', () => {
  /** Calls `change` when the file was opened, before the kernel is asked for its path. */
  function onceOpened(file: string, change: () => Promise<void>) {
    let isChanged = false
    return jest.spyOn(fsPromises, 'readlink').mockImplementation(async (path) => {
      if (!isChanged && (await realpath(path)) === file) {
        isChanged = true
        await change()
      }
      return readlink(path)
    })
  }

  test.each<[string, string[], (directory: string) => Promise<void>]>([
    ['replaced', ['ops.json'], (directory) => rename(join(directory, 'other'), join(directory, 'ops.json'))],
    ['removed', ['ops.json', 'other'], (directory) => rm(join(directory, 'ops.json'))],
  ])('is saved under its name when it is %s', async (name, left, change) => {
    const path = await fresh(name, { 'ops.json': 'old', other: 'other' })
    const spy = onceOpened(join(share, name, 'ops.json'), () => change(join(share, name)))
    await files.textFiles.save({ path: `${path}/ops.json`, content: 'saved' })
    spy.mockRestore()
    expect((await readdir(join(share, name))).sort()).toEqual(left)
    expect(await readFile(join(share, name, 'ops.json'), 'utf8')).toBe('saved')
  })

  test('is saved under a name that the kernel uses for removed files, if that is its name', async () => {
    const path = await fresh('named', { 'ops.json (deleted)': 'old' })
    await link(join(share, 'named/ops.json (deleted)'), join(share, 'named/second'))
    await files.textFiles.save({ path: `${path}/ops.json (deleted)`, content: 'saved' })
    expect(await readFile(join(share, 'named/ops.json (deleted)'), 'utf8')).toBe('saved')
    expect(await readFile(join(share, 'named/second'), 'utf8')).toBe('old')
  })
})

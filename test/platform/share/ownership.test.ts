import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { openRealDirectory, withDirectory } from '../../../src/platform/share/jail'
import { chownTree, FIRST_USER_ID } from '../../../src/platform/share/ownership'
import { createSkippedEntries } from '../../../src/platform/share/skippedEntries'
import { childProgram } from '../../support/platform/childProgram'
import { isRoot } from '../../support/platform/canContain'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, remount, unmount } from '../../support/platform/tmpfs'

const directory = useTemporaryDirectory()
const UID = FIRST_USER_ID + 7
let files: Files

/** Takes the files of a directory, as a start of an instance does. Kills itself in the middle of the first copy. */
const TAKER = `
  const { watch } = require('node:fs')
  const { chownTree } = require(process.argv[2] + '/ownership')
  const { openRealDirectory, withDirectory } = require(process.argv[2] + '/jail')
  const [, , , path, uid] = process.argv
  watch(path, (_event, name) => !['kept', 'mill'].includes(name) && process.kill(process.pid, 'SIGKILL'))
  void withDirectory(openRealDirectory(path), (opened) => chownTree(opened, Number(uid), () => undefined, {}))
`

;(isRoot ? describe : describe.skip)('§12 in the directory of a deployment (skipped without root)', () => {
  const share = () => join(directory(), 'share')
  const ownerOf = (path: string) => lstatSync(join(share(), path)).uid

  beforeAll(async () => {
    for (const path of ['share/lobby', 'share/elsewhere/tree/deep', 'data'])
      mkdirSync(join(directory(), path), { recursive: true })
    chownSync(join(share(), 'lobby'), UID, UID)
    files = await openFiles({
      dataDir: join(directory(), 'data'),
      shareDir: share(),
      log: pino({ level: 'silent' }),
      now: Date.now,
    })
  })
  afterAll(() => files.close())

  test('a new file, a new directory and a saved text get its owner', async () => {
    await files.changes.createFile('/nfsshare/lobby/new.txt')
    await files.changes.createDirectory('/nfsshare/lobby/new')
    await files.textFiles.save({ path: '/nfsshare/lobby/saved.txt', content: 'x' })
    for (const path of ['lobby/new.txt', 'lobby/new', 'lobby/saved.txt']) expect(ownerOf(path)).toBe(UID)
  })

  test('a moved tree gets its owner, including a link in it but not the target of the link', async () => {
    writeFileSync(join(share(), 'elsewhere/tree/deep/a.txt'), '')
    writeFileSync(join(share(), 'elsewhere/target.txt'), '')
    symlinkSync('../../elsewhere/target.txt', join(share(), 'elsewhere/tree/link'))
    await files.changes.move('/nfsshare/elsewhere/tree', '/nfsshare/lobby/tree')
    for (const path of ['lobby/tree', 'lobby/tree/deep', 'lobby/tree/deep/a.txt', 'lobby/tree/link'])
      expect(ownerOf(path)).toBe(UID)
    expect(ownerOf('elsewhere/target.txt')).toBe(0)
  })

  test('a tree that is moved from the directory of another deployment gets its owner, except what belongs to a third', async () => {
    mkdirSync(join(share(), 'hub/world/region'), { recursive: true })
    mkdirSync(join(share(), 'hub/world/inner'))
    writeFileSync(join(share(), 'hub/world/region/a.mca'), '')
    for (const path of ['hub', 'hub/world', 'hub/world/region', 'hub/world/region/a.mca'])
      chownSync(join(share(), path), UID + 1, UID + 1)
    chownSync(join(share(), 'hub/world/inner'), UID + 2, UID + 2)
    await files.changes.move('/nfsshare/hub/world', '/nfsshare/lobby/world')
    for (const path of ['lobby/world', 'lobby/world/region', 'lobby/world/region/a.mca'])
      expect(ownerOf(path)).toBe(UID)
    expect(ownerOf('lobby/world/inner')).toBe(UID + 2)
  })

  describe('with further names of files', () => {
    beforeEach(() => rmSync(join(share(), 'mill'), { recursive: true, force: true }))
    const OTHER = UID + 3
    const write = (path: string, uid: number) => {
      mkdirSync(join(share(), path, '..'), { recursive: true })
      writeFileSync(join(share(), path), 'original', { mode: 0o750 })
      utimesSync(join(share(), path), 1000, 2000)
      chownSync(join(share(), path), uid, uid)
    }
    const take = (path: string, uid: number) =>
      withDirectory(openRealDirectory(join(share(), path)), (opened) =>
        chownTree(opened, uid, () => undefined, createSkippedEntries()),
      )
    const inodeOf = (path: string) => lstatSync(join(share(), path)).ino

    test.each([
      ['server.jar', 'server.jar'],
      ['plugins', 'plugins/a.jar'],
    ])(
      'security 227: a moved file (in %s) becomes one of its own if the other deployment has a further name for it',
      async (moved, path) => {
        write(`mill/${path}`, OTHER)
        linkSync(join(share(), 'mill', path), join(share(), 'mill/kept'))
        await files.changes.move(`/nfsshare/mill/${moved}`, `/nfsshare/lobby/${moved}`)
        const { uid, gid, mode, mtimeMs, nlink } = lstatSync(join(share(), 'lobby', path))
        expect({ uid, gid, mode: mode & 0o777, mtimeMs, nlink }).toEqual({
          ...{ uid: UID, gid: UID, mode: 0o750, mtimeMs: 2_000_000, nlink: 1 },
        })
        expect(ownerOf('mill/kept')).toBe(OTHER)
        writeFileSync(join(share(), 'mill/kept'), 'replaced')
        expect(readFileSync(join(share(), 'lobby', path), 'utf8')).toBe('original')
      },
    )

    test('security 227: the start of an instance does not take a file of another deployment by a further name', async () => {
      write('lobby/moved.jar', UID)
      mkdirSync(join(share(), 'mill'))
      linkSync(join(share(), 'lobby/moved.jar'), join(share(), 'mill/kept'))
      await take('mill', OTHER)
      expect([ownerOf('lobby/moved.jar'), ownerOf('mill/kept')]).toEqual([UID, OTHER])
      expect(inodeOf('mill/kept')).not.toBe(inodeOf('lobby/moved.jar'))
    })

    test('the copy that a killed platform has not finished is removed by the next start', async () => {
      write('lobby/large.bin', UID)
      writeFileSync(join(share(), 'lobby/large.bin'), Buffer.alloc(256 * 2 ** 20, 1))
      mkdirSync(join(share(), 'mill'))
      linkSync(join(share(), 'lobby/large.bin'), join(share(), 'mill/kept'))
      const program = join(directory(), 'data/taker.js')
      writeFileSync(program, TAKER)
      const [path = ''] = childProgram('share')
      const taker = fork(program, [path.replace(/\.js$/, ''), join(share(), 'mill'), String(OTHER)])
      await once(taker, 'exit')
      expect(readdirSync(join(share(), 'mill'))).toHaveLength(2)
      await take('mill', OTHER)
      expect(readdirSync(join(share(), 'mill'))).toEqual(['kept'])
      expect(ownerOf('mill/kept')).toBe(OTHER)
      rmSync(join(share(), 'lobby/large.bin'))
    })

    test('the names of a file that belonged to no deployment stay those of one file', async () => {
      write('old/a', 0)
      linkSync(join(share(), 'old/a'), join(share(), 'old/b'))
      await take('old', OTHER)
      expect([ownerOf('old/a'), inodeOf('old/a')]).toEqual([OTHER, inodeOf('old/b')])
    })
  })

  ;(canMount ? test : test.skip)(
    'a move that has no room for the copy of a file with further names says what was done, and how to complete it (skipped without mount rights)',
    async () => {
      mountTmpfs(join(share(), 'disk'), '4m')
      try {
        for (const [path, uid] of [
          ['disk/forge', UID + 4],
          ['disk/forge/world', UID + 4],
          ['disk/farm', UID],
        ] as const) {
          mkdirSync(join(share(), path))
          chownSync(join(share(), path), uid, uid)
        }
        const names = ['a.mca', 'b.mca', 'sub/c.mca']
        mkdirSync(join(share(), 'disk/forge/world/sub'))
        chownSync(join(share(), 'disk/forge/world/sub'), UID + 4, UID + 4)
        for (const name of names) {
          const file = join(share(), 'disk/forge/world', name)
          writeFileSync(file, Buffer.alloc(2 ** 20, 1))
          chownSync(file, UID + 4, UID + 4)
          linkSync(file, join(share(), 'disk/forge', name.replace('/', '-')))
        }
        const move = (sourcePath: string, targetPath: string) =>
          files.changes.move(`/nfsshare/disk/${sourcePath}`, `/nfsshare/disk/${targetPath}`)
        await expect(move('forge/world', 'farm/world')).rejects.toMatchObject({
          code: 'DISK_FULL',
          message:
            '/nfsshare/disk/farm/world was moved, but the disk of the shared area is full: not all of it belongs to its new deployment yet. Make room, move it back, and then move it here again.',
        })
        remount(join(share(), 'disk'), 'size=16m')
        await move('farm/world', 'forge/world')
        await move('forge/world', 'farm/world')
        for (const path of ['', 'sub', ...names]) expect(ownerOf(`disk/farm/world/${path}`)).toBe(UID)
      } finally {
        unmount(join(share(), 'disk'))
      }
    },
  )

  test('a new file elsewhere keeps the owner of the platform', async () => {
    await files.changes.createFile('/nfsshare/elsewhere/mine.txt')
    expect(ownerOf('elsewhere/mine.txt')).toBe(0)
  })
})

import { chownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openFiles, type Files } from '../../../src/platform/share/files'
import { FIRST_USER_ID } from '../../../src/platform/share/ownership'
import { isRoot } from '../../support/platform/canContain'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()
const UID = FIRST_USER_ID + 7
let files: Files

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

  test('a new file elsewhere keeps the owner of the platform', async () => {
    await files.changes.createFile('/nfsshare/elsewhere/mine.txt')
    expect(ownerOf('elsewhere/mine.txt')).toBe(0)
  })
})

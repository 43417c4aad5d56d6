import { mkdir, readdir, readFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import pino from 'pino'
import { createEntryLocks } from '../../../src/platform/share/changes/entryLocks'
import { openTemporaries } from '../../../src/platform/share/changes/temporaries'
import { openFiles } from '../../../src/platform/share/files'
import { createJail } from '../../../src/platform/share/jail'
import { createTextFiles } from '../../../src/platform/share/textFiles'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()
const log = pino({ level: 'silent' })

async function freshShare(name: string): Promise<{ dataDir: string; shareDir: string }> {
  const place = { dataDir: join(directory(), name, 'data'), shareDir: join(directory(), name, 'share') }
  await mkdir(place.dataDir, { recursive: true })
  await mkdir(place.shareDir)
  return place
}

test('a save that fails after its text was written removes the unfinished file and its record', async () => {
  const { dataDir, shareDir } = await freshShare('stat')
  const jail = createJail(shareDir)
  const temporaries = await openTemporaries(dataDir, jail, createEntryLocks(), log)
  const textFiles = createTextFiles(jail, {
    ...temporaries,
    async file(parent, mode) {
      const temporary = await temporaries.file(parent, mode)
      temporary.handle.stat = (() => Promise.reject(new Error('EIO: i/o error, fstat'))) as FileHandle['stat']
      return temporary
    },
  })
  await expect(textFiles.save({ path: '/nfsshare/a.txt', content: 'text' })).rejects.toThrow('EIO')
  expect(await readdir(shareDir)).toEqual([])
  expect(await readdir(join(dataDir, 'temporaries'))).toEqual([])
})

test('a file that is in its place was stored, even if its record cannot be removed', async () => {
  const place = await freshShare('record')
  const temporaries = {
    add: async () => undefined,
    remove: () => Promise.reject(new Error('Connection terminated unexpectedly')),
    leftovers: async () => [],
  }
  const replica = { withLocks: <Result>(_keys: string[], work: () => Promise<Result>) => work(), temporaries }
  const files = await openFiles({ ...place, log, now: Date.now, replica })
  await files.textFiles.save({ path: '/nfsshare/saved.txt', content: 'text' })
  const upload = files.upload()
  await upload.receive('uploaded.bin', Readable.from([Buffer.from('bytes')]), '/nfsshare')
  await upload.store('/nfsshare', 'replace')
  expect((await files.archive(1, '/nfsshare/saved.txt')).name).toBe('saved.txt.tar.gz')
  expect((await readdir(place.shareDir)).sort()).toEqual(['saved.txt', 'saved.txt.tar.gz', 'uploaded.bin'])
  expect(await readFile(join(place.shareDir, 'uploaded.bin'), 'utf8')).toBe('bytes')
  await files.close()
})

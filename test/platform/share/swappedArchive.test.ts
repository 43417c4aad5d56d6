import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createEntryLocks } from '../../../src/platform/share/changes/entryLocks'
import { createJail } from '../../../src/platform/share/jail'
import { openTemporaries } from '../../../src/platform/share/changes/temporaries'
import { createUnpacker } from '../../../src/platform/share/archives/unpack'
import { make7z, makeTar, makeZip } from '../../support/platform/archives'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

// An instance can do this in its directory while an operator extracts the archive, and 7-Zip has the platform's rights.
test.each([
  ['7z', 'a link that leads out', () => make7z({ 'own.txt': 'own' })],
  ['7z', 'another file', () => make7z({ 'own.txt': 'own' })],
  ['zip', 'a link that leads out', () => makeZip({ 'own.txt': 'own' })],
])(
  'security 17: if a .%s is replaced by %s after it was opened, the opened one is extracted',
  async (kind, by, make) => {
    const [share, data, outside] = ['share', 'data', 'outside'].map((name) =>
      join(directory(), `${kind} ${by}`, name),
    ) as [string, string, string]
    for (const path of [share, data, outside]) mkdirSync(path, { recursive: true })
    const archive = join(share, `a.${kind}`)
    writeFileSync(archive, await make())
    // 7-Zip detects the format regardless of the name.
    writeFileSync(join(outside, 'backup.tar'), await makeTar([{ name: 'secret.txt', content: 'secret' }]))
    const jail = createJail(share)
    const unpacker = createUnpacker(
      jail,
      await openTemporaries(data, jail, createEntryLocks(), pino({ level: 'silent' })),
    )
    let isReplaced = false
    await unpacker.unpack(`/nfsshare/a.${kind}`, {
      signal: new AbortController().signal,
      // The first progress is reported when the archive has been opened.
      progress: () => {
        if (isReplaced) return
        isReplaced = true
        if (by === 'another file') renameSync(join(outside, 'backup.tar'), archive)
        else {
          symlinkSync(join(outside, 'backup.tar'), join(share, 'link'))
          renameSync(join(share, 'link'), archive)
        }
      },
    })
    expect(isReplaced).toBe(true)
    expect(readdirSync(join(share, 'a'))).toEqual(['own.txt'])
  },
)

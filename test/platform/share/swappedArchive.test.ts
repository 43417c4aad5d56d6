import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createEntryLocks } from '../../../src/platform/share/changes/entryLocks'
import { createJail } from '../../../src/platform/share/jail'
import { openTemporaries } from '../../../src/platform/share/changes/temporaries'
import { createUnpacker } from '../../../src/platform/share/archives/unpack'
import { make7z, makeTar, makeZip } from '../../support/platform/archives'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()

/** Opens a new shared area beside a directory that must stay as it is. */
async function openIn(place: string) {
  const [share, data, outside] = ['share', 'data', 'outside'].map((name) => join(directory(), place, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [share, data, outside]) mkdirSync(path, { recursive: true })
  const jail = createJail(share)
  const log = pino({ level: 'silent' })
  const unpacker = createUnpacker(jail, await openTemporaries(data, jail, createEntryLocks(), log))
  return { share, outside, unpacker }
}

// An instance can do this in its directory while an operator extracts the archive, and 7-Zip has the platform's rights.
test.each([
  ['7z', 'a link that leads out', () => make7z({ 'own.txt': 'own' })],
  ['7z', 'another file', () => make7z({ 'own.txt': 'own' })],
  ['zip', 'a link that leads out', () => makeZip({ 'own.txt': 'own' })],
])(
  'security 17: if a .%s is replaced by %s after it was opened, the opened one is extracted',
  async (kind, by, make) => {
    const { share, outside, unpacker } = await openIn(`${kind} ${by}`)
    const archive = join(share, `a.${kind}`)
    writeFileSync(archive, await make())
    // 7-Zip detects the format regardless of the name.
    writeFileSync(join(outside, 'backup.tar'), await makeTar([{ name: 'secret.txt', content: 'secret' }]))
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

// On a platform without root, instances have the platform's user, and so may change what it extracts in their
// directory.
test.each([
  ['7z', make7z],
  ['zip', makeZip],
])(
  'security 176: if a directory is replaced by a link while a .%s is extracted into it, nothing is written outside',
  async (kind, make) => {
    const { share, outside, unpacker } = await openIn(`directory ${kind}`)
    const names = Array.from({ length: 2000 }, (_name, at) => `sub/${at}.txt`)
    writeFileSync(join(share, `a.${kind}`), await make(Object.fromEntries(names.map((name) => [name, 'content']))))
    const replaced = () => {
      const [part] = readdirSync(share).filter((name) => name.endsWith('.part'))
      const sub = join(share, part ?? '', 'sub')
      if (part === undefined || !existsSync(sub)) return false
      renameSync(sub, join(share, part, 'moved'))
      symlinkSync(outside, sub)
      return true
    }
    let isReplaced = false
    await unpacker
      .unpack(`/nfsshare/a.${kind}`, {
        signal: new AbortController().signal,
        progress: () => (isReplaced ||= replaced()),
      })
      .catch(() => undefined)
    expect(isReplaced).toBe(true)
    expect(readdirSync(outside)).toEqual([])
  },
)

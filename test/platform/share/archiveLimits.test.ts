import { truncateSync } from 'node:fs'
import { readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { useArchiveFiles, ANN } from '../../support/platform/archiveFiles'
import { make7z, makeRar, makeTar, makeTarGz, makeZip } from '../../support/platform/archives'
import { expectHeldUnder } from '../../support/platform/heldMemory'

const { share, files, open, put } = useArchiveFiles()

test.each(['tar', 'tar.gz', 'zip'])(
  'security 124: a very long .%s of which nearly nothing is stored is not extracted, and the reason names it',
  async (kind) => {
    // Of a tar, the file within would take the whole disk, and the rest days to read.
    const name = `hole.${kind}`
    const tar = await makeTar([{ name: 'a', content: 'a' }])
    await put(name, { tar, 'tar.gz': gzipSync(tar), zip: await makeZip({ a: 'a' }) }[kind] ?? '')
    await truncate(join(share(), name), 100 * 2 ** 30)
    await expect(files().unarchive(ANN, `/nfsshare/${name}`)).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: expect.stringContaining(`"${name}" is 100 GiB long and nearly empty`) as string,
    })
    expect(await readdir(share())).toEqual([name])
  },
)

test('security 249: a .tar that becomes very long after its size was checked is not read to its end', async () => {
  await files().close()
  await open(() => {
    // As an instance may do meanwhile.
    truncateSync(join(share(), 'grown.tar'), 2 ** 34)
    return { entries: 20, size: 1000 }
  })
  await put('grown.tar', await makeTar([{ name: 'a', content: 'a' }]))
  await expect(files().unarchive(ANN, '/nfsshare/grown.tar')).rejects.toMatchObject({ code: 'TOO_LARGE' })
  expect(await readdir(share())).toEqual(['grown.tar'])
})

test('security 28: a bomb gets 413, memory stays flat and the disk space is freed', async () => {
  const zeros = Buffer.alloc(2 ** 20)
  await put(
    'bomb.zip',
    await makeZip(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`zeros${index}`, zeros]))),
  )
  await put('bomb.gz', gzipSync(Buffer.alloc(300 * 2 ** 20)))
  await expectHeldUnder(50 * 2 ** 20, async () => {
    for (const name of ['bomb.zip', 'bomb.gz']) {
      await expect(files().unarchive(ANN, `/nfsshare/${name}`)).rejects.toMatchObject({
        code: 'TOO_LARGE',
        message:
          'The archive was not extracted: it would become larger than 256 MiB, the most that is extracted of an archive of this size.',
      })
    }
  })
  expect((await readdir(share())).sort()).toEqual(['bomb.gz', 'bomb.zip'])
})

test.each<[string, () => Promise<Buffer>]>([
  ['the zeros that end it', async () => Buffer.alloc(2 ** 20)],
  [
    'headers without entries',
    async () => {
      const tar = await makeTar([{ name: 'a', content: 'x', pax: { comment: 'c'.repeat(100) } }])
      // Its extended header with the comment, again and again.
      return Buffer.concat(Array<Buffer>(1000).fill(tar.subarray(0, 1024)))
    },
  ],
])('security 191: a .tar.gz that consists of %s gets 413', async (_what, makeRest) => {
  await files().close()
  await open(() => ({ entries: 20, size: 1000 }))
  const entry = (await makeTar([{ name: 'a', content: 'x' }])).subarray(0, 1024)
  await put('endless.tar.gz', gzipSync(Buffer.concat([entry, await makeRest()])))
  await expect(files().unarchive(ANN, '/nfsshare/endless.tar.gz')).rejects.toMatchObject({ code: 'TOO_LARGE' })
  expect(await readdir(share())).toEqual(['endless.tar.gz'])
})

test('security 28: a header that claims 4 GB, and too many entries, get 413 in every format', async () => {
  await files().close()
  await open(() => ({ entries: 20, size: 1000 }))
  const claim = await makeZip({ 'a.txt': 'small' })
  // The uncompressed size in the central directory.
  claim.writeUInt32LE(0xfffffff0, claim.indexOf('PK\x01\x02') + 24)
  await put('claim.zip', claim)
  const many = Array.from({ length: 30 }, (_, index) => `f${index}`)
  const small = Object.fromEntries(many.map((name) => [name, 'x']))
  await put('many.zip', await makeZip(small))
  await put('many.tar.gz', await makeTarGz(many.map((name) => ({ name, content: 'x' }))))
  await put('many.7z', await make7z(small))
  await put('many.rar', makeRar(small))
  await put('large.7z', await make7z({ a: 'x'.repeat(2000) }))
  await put('large.rar', makeRar({ a: 'x'.repeat(2000) }))
  await put('large.tar', await makeTar([{ name: 'a', content: 'x'.repeat(2000) }]))
  const archives = (await readdir(share())).sort()
  for (const name of archives)
    await expect(files().unarchive(ANN, `/nfsshare/${name}`)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  expect((await readdir(share())).sort()).toEqual(archives)
})

test('security 28: directories that exist only in the paths of entries count as entries', async () => {
  await files().close()
  await open(() => ({ entries: 20, size: 1000 }))
  const deep = (top: string) => `${top}/${'d/'.repeat(12)}file`
  await put('deep.zip', await makeZip({ [deep('a')]: 'x', [deep('b')]: 'x' }))
  await put(
    'deep.tar',
    await makeTar([
      { name: deep('a'), content: 'x' },
      { name: deep('b'), content: 'x' },
    ]),
  )
  await put(
    'few.tar',
    await makeTar([
      { name: 'a/', type: 'directory' },
      { name: 'a/b/', type: 'directory' },
      ...Array.from({ length: 18 }, (_, index) => ({ name: `a/b/${index}`, content: 'x' })),
    ]),
  )
  for (const name of ['deep.zip', 'deep.tar'])
    await expect(files().unarchive(ANN, `/nfsshare/${name}`)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  await files().unarchive(ANN, '/nfsshare/few.tar')
  expect((await readdir(share())).sort()).toEqual(['deep.tar', 'deep.zip', 'few', 'few.tar'])
})

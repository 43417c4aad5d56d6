import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { browserTest, openPage } from '../support/browser/browserTest'
import { signUp, useProduct } from '../support/browser/startProduct'

const SIZE = 2 * 2 ** 30
/** Block size; not a multiple of any chunk size, so that chunks never repeat. */
const BLOCK = 2 ** 20 - 3

const product = useProduct({ QUARTERDECK_SAMPLE: 'off' })
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quarterdeck-large-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function makeFile(path: string): Promise<void> {
  const file = await open(path, 'w')
  const block = Buffer.from(Array.from({ length: BLOCK }, (_, index) => (index * index) >> 3))
  for (let at = 0, round = 0; at < SIZE; at += BLOCK, round += 1) {
    block.writeUInt32LE(round)
    await file.write(block.subarray(0, Math.min(BLOCK, SIZE - at)))
  }
  await file.close()
}

/** Compares byte by byte, five times as fast as hashing. Throws if the files differ. */
const expectSameContent = (one: string, other: string) => execFileSync('cmp', [one, other])

/** Current and peak memory of the platform process since this call, in bytes (VmRSS and VmHWM of proc(5)). */
function memoryPeak() {
  const pid = /\d+/.exec(readFileSync(join(product().dataDir, 'platform.lock'), 'utf8'))?.[0] ?? ''
  // Reset the peak of the start.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const read = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  return { now: () => read('VmRSS'), peak: () => read('VmHWM') }
}

browserTest(
  '2 GB are uploaded and downloaded unchanged through the page with constant memory in the platform',
  async () => {
    const source = join(directory, 'world.bin')
    await makeFile(source)
    const { page, errors } = await openPage(product().url)
    await signUp(page, product())
    await page.getByRole('link', { name: 'Files', exact: true }).click()
    await page.getByText('This directory is empty').waitFor()
    const memory = memoryPeak()
    const before = memory.now()

    await page.getByLabel('Files to upload').setInputFiles(source)
    // The page shows the bytes sent and the total.
    await page
      .getByText(/of 2(?:\.00)? GB/)
      .first()
      .waitFor()
    await page.getByText('1 of 1 uploaded').waitFor({ timeout: 600_000 })
    const stored = join(product().dataDir, 'nfsshare/world.bin')
    expectSameContent(source, stored)
    await rm(source)

    await page.getByRole('button', { name: 'Actions for world.bin' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Download', exact: true }).click(),
    ])
    // `path()` waits for the end of the download.
    expectSameContent(stored, await download.path())
    await download.delete()

    expect(memory.peak() - before).toBeLessThan(150 * 2 ** 20)
    expect(await readdir(join(product().dataDir, 'nfsshare'))).toEqual(['.quarterdeck-share', 'world.bin'])
    expect(errors).toEqual([])
  },
  1_200_000,
)

import { rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import { postgresDirectories } from '../../../src/platform/postgres/embeddedPostgres'
import { watchDisks } from '../../../src/platform/share/disks'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, remount, unmount } from '../../support/platform/tmpfs'

const directory = useTemporaryDirectory()

;(canMount ? test : test.skip)(
  'a disk without free inodes counts as full, whatever bytes are free, and reports how many files fit',
  async () => {
    const share = join(directory(), 'share')
    await mkdir(share)
    mountTmpfs(share)
    const disks = watchDisks(directory(), [], share, pino({ level: 'silent' }))
    const ofShare = async () => (await disks.list()).find(({ name }) => name === 'share')
    try {
      remount(share, 'nr_inodes=1000')
      expect(await ofShare()).toMatchObject({ level: 'ok' })
      expect(await ofShare()).not.toHaveProperty('filesLeft')
      const fill = (from: number, to: number) => {
        for (let at = from; at < to; at++) writeFileSync(join(share, String(at)), '')
      }
      fill(0, 920)
      expect(await ofShare()).toMatchObject({ level: 'low', filesLeft: expect.any(Number) })
      fill(920, 980)
      expect(await ofShare()).toMatchObject({ level: 'full' })
      expect((await ofShare())?.filesLeft).toBeLessThan(20)
      for (let at = 0; at < 980; at++) rmSync(join(share, String(at)))
      expect(await ofShare()).toMatchObject({ level: 'ok' })
    } finally {
      disks.close()
      unmount(share)
    }
  },
)

;(canMount ? test.each : test.skip.each)(['postgres', 'state'])(
  'a full disk that holds only PostgreSQL counts as the data directory: %s',
  async (name) => {
    const [share, postgres] = [join(directory(), 'share'), join(directory(), name)]
    for (const path of [share, postgres]) await mkdir(path, { recursive: true })
    mountTmpfs(postgres)
    const disks = watchDisks(directory(), postgresDirectories(directory()), share, pino({ level: 'silent' }))
    try {
      expect(await disks.list()).toMatchObject([{ name: 'data', level: 'ok' }])
      remount(postgres, 'size=5m')
      writeFileSync(join(postgres, 'wal'), Buffer.alloc(2 * 2 ** 20))
      expect(await disks.list()).toMatchObject([{ name: 'data', level: 'full', total: 5 * 2 ** 20 }])
    } finally {
      disks.close()
      unmount(postgres)
    }
  },
)

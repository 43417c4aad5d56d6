import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createJail } from '../../../src/platform/share/jail'
import { openShareMarker } from '../../../src/platform/share/shareMarker'
import { freePort } from '../../support/platform/freePort'
import { freshDatabase } from '../../support/platform/freshState'
import { countHungThreads, hungDiskMissing, mountHungDisk } from '../../support/platform/hungDisk'
import { killLeftovers, runProgram } from '../../support/platform/runPlatform'
import { stopHost } from '../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
const describeHung = hungDiskMissing === undefined ? describe : describe.skip

describeHung(
  `security 66: a shared area that hangs${hungDiskMissing === undefined ? '' : ` (${hungDiskMissing})`}`,
  () => {
    let recover = () => {}
    afterEach(() => {
      recover()
      killLeftovers()
    })

    test('holds one thread of the platform, however often it is accessed, and counts as unavailable', async () => {
      const place = { dataDir: directory(), shareDir: join(directory(), 'share') }
      const log = pino({ level: 'silent' })
      recover = mountHungDisk(place.shareDir)
      const marker = await openShareMarker({ ...place, dataDirectories: async () => [], log })
      const jail = createJail(place.shareDir, marker)
      const accesses = Array.from({ length: 40 }, (_access, at) => jail.open([`file-${at}`]))
      const failures = await Promise.all(accesses.map((access) => access.catch((error: unknown) => error)))
      expect(failures).toEqual(Array(40).fill(expect.objectContaining({ code: 'UNAVAILABLE' })))
      expect(countHungThreads()).toBe(1)
    })

    test('is named by health, and the rest of the platform works', async () => {
      const { url, drop } = await freshDatabase()
      const port = await freePort()
      const shareDir = join(directory(), 'network')
      const { child, output, exited } = runProgram('main', {
        QUARTERDECK_DATA_DIR: join(directory(), 'data'),
        QUARTERDECK_SHARE_DIR: shareDir,
        QUARTERDECK_STATE_URL: url,
        QUARTERDECK_SQL_URL: url,
        QUARTERDECK_ISOLATION: 'off',
        QUARTERDECK_PORT: String(port),
      })
      const base = `http://127.0.0.1:${port}/api`
      try {
        await until(() => output().stdout.includes('Quarterdeck is ready'))
        // The process of the instances was started.
        await until(async () => (await fetch(`${base}/health`)).ok)
        recover = mountHungDisk(shareDir)
        const signIn = () =>
          fetch(`${base}/auth/login`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{"username": "nobody", "password": "wrong password"}',
            signal: AbortSignal.timeout(5000),
          })
        for (let round = 0; round < 3; round++) {
          // On a busy machine other parts may be late, too.
          const health = await until(
            async () => {
              const answer = await fetch(`${base}/health`)
              return { status: answer.status, ...((await answer.json()) as { message?: string }) }
            },
            ({ message }) => message === 'Not ready: share',
          )
          expect(health.status).toBe(503)
          expect((await signIn()).status).toBe(400)
        }
        const threads = readdirSync(`/proc/${child.pid}/task`)
        expect(threads.length).toBeGreaterThan(60)
        const isHung = (id: string) => / \(.*\) D /.test(readFileSync(`/proc/${child.pid}/task/${id}/stat`, 'utf8'))
        expect(threads.filter(isHung).length).toBeLessThan(8)
        recover()
        await until(async () => !(await (await fetch(`${base}/health`)).text()).includes('does not answer'))
      } finally {
        recover()
        child.kill('SIGTERM')
        await exited
        await stopHost(join(directory(), 'data'))
        await drop()
      }
    }, 60_000)
  },
)

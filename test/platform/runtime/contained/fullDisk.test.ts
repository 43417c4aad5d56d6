import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunRecord } from '../../../../src/platform/runtime/contained/runRecord'
import { describeContained, useContainedRuntime } from '../../../support/platform/containedInstances'
import { canMount, mountTmpfs, unmount } from '../../../support/platform/tmpfs'
import { until } from '../../../support/platform/until'

;(canMount ? describeContained : describe.skip)(
  'on a full disk of the data directory (skipped without runc, conmon, socat or mount rights)',
  () => {
    const { dataDir, shareDir, runtime, spec, find, hasEnded, lines, prints, reopen } = useContainedRuntime()
    const contained = (name: string) => join(dataDir(), 'runtime/contained', name)
    const shell = (podName: string, script: string, change = {}) => spec(podName, ['sh', '-c', script], change)

    /** Runs the work while a directory of the runtime is a small disk. */
    async function onSmallDisk(
      name: string,
      work: (fill: () => void, free: () => void) => Promise<void>,
    ): Promise<void> {
      const path = contained(name)
      mountTmpfs(path, '64k')
      const ballast = join(path, 'ballast')
      const fill = () => {
        try {
          writeFileSync(ballast, Buffer.alloc(2 ** 20))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        }
      }
      try {
        await work(fill, () => rmSync(ballast))
      } finally {
        unmount(path)
      }
    }

    test('security 164: the files of "keep" are written back after an orderly stop whose exit code could not be stored', async () => {
      await onSmallDisk('exits', async (fill) => {
        const script = 'echo begun > list.txt; echo Ready; read line; echo saved >> list.txt'
        const copied = { copy: true, keep: ['list.txt'], stop: { command: 'stop', timeoutSeconds: 20 } }
        await runtime().ensure(shell('kept', script, copied))
        await prints('kept', 'Ready')
        fill()
        await runtime().stop('kept')
        await hasEnded('kept')
        expect((await find('kept'))?.exit).toMatchObject({ code: null, requested: true, orderly: true })
        expect(readFileSync(join(shareDir(), 'kept/list.txt'), 'utf8')).toBe('begun\nsaved\n')
      })
    })

    test('security 164: after a kill nothing is written back, even if the exit code could not be stored', async () => {
      await onSmallDisk('exits', async (fill) => {
        const script = 'echo begun > list.txt; echo Ready; exec sleep 1000'
        await runtime().ensure(shell('killed', script, { copy: true, keep: ['list.txt'] }))
        await prints('killed', 'Ready')
        fill()
        await runtime().kill('killed')
        await hasEnded('killed')
        await until(async () =>
          (await lines('killed')).some((line) =>
            line.includes('were not written back: that happens only after an orderly stop'),
          ),
        )
      })
    })

    test('security 165: an instance whose record cannot be stored is not started, because the next platform would end it', async () => {
      await onSmallDisk('runs', async (fill, free) => {
        fill()
        await runtime().ensure(shell('unrecorded', 'echo up; exec sleep 98764'))
        await hasEnded('unrecorded')
        expect((await find('unrecorded'))?.exit?.failure).toMatch(/disk of the data directory is full/)
        expect(execFileSync('ps', ['-eo', 'args']).toString()).not.toContain('sleep 98764')
        free()
        await runtime().ensure(shell('unrecorded', 'echo up; exec sleep 98764'))
        const { runId } = (await find('unrecorded'))!
        await prints('unrecorded', 'up')
        await reopen()
        expect(await find('unrecorded')).toMatchObject({ runId, state: 'RUNNING' })
        await runtime().kill('unrecorded')
        await hasEnded('unrecorded')
      })
    })

    test('security 165: what could not be stored about a run is stored as soon as there is room', async () => {
      await onSmallDisk('runs', async (fill, free) => {
        await runtime().ensure(shell('ready-later', 'read line; echo Ready; exec sleep 1000', { ready: '^Ready$' }))
        fill()
        await runtime().write('ready-later', 'go')
        await until(async () => (await find('ready-later'))?.state === 'RUNNING')
        const stored = () => JSON.parse(readFileSync(join(contained('runs'), 'ready-later.json'), 'utf8')) as RunRecord
        expect(stored().state).toBe('STARTING')
        free()
        await until(() => stored().state === 'RUNNING')
        await runtime().kill('ready-later')
        await hasEnded('ready-later')
      })
    })
  },
)

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as jail from '../../../../src/platform/share/jail'
import { describeContained, testAsRoot, useContainedRuntime } from '../../../support/platform/containedInstances'
import { until } from '../../../support/platform/until'

const { root, dataDir, runtime, spec, find, hasEnded, lines, runInside, withRunc, withRuntimeIn } =
  useContainedRuntime()

describeContained('while runc starts a container (skipped where runc, conmon or socat is missing)', () => {
  test('a stop is not lost: the program gets its stop command', async () => {
    const begun = join(root(), 'begun')
    await withRunc(`case "$*" in *" start slow-"*) touch ${begun}; sleep 0.5;; esac`, async () => {
      const stop = { command: 'stop', timeoutSeconds: 3 }
      const started = runtime().ensure(spec('slow', ['sh', '-c', 'read line; echo "heard $line"'], { stop }))
      await until(() => existsSync(begun))
      await runtime().stop('slow')
      // The next platform sends it if this one is killed now.
      expect(readFileSync(join(dataDir(), 'runtime/contained/runs/slow.json'), 'utf8')).toContain(
        '"isStopCommandDue":true',
      )
      await started
      await hasEnded('slow')
      expect(await lines('slow')).toContain('heard stop')
      expect(await find('slow')).toMatchObject({ exit: { code: 0, requested: true, orderly: true } })
    })
  })
  test('nor is a stop that arrives when the program runs and the start still closes the directories it has checked', async () => {
    const { openRealDirectory } = jail
    const opening = jest.spyOn(jail, 'openRealDirectory').mockImplementation(async (path) => {
      const opened = await openRealDirectory(path)
      const close = async () => {
        await runtime().stop('late')
        await opened.close()
      }
      return { ...opened, close }
    })
    try {
      const stop = { command: 'stop', timeoutSeconds: 3 }
      await runtime().ensure(spec('late', ['sh', '-c', 'read line; echo "heard $line"'], { stop }))
    } finally {
      opening.mockRestore()
    }
    await hasEnded('late')
    expect(await lines('late')).toContain('heard stop')
  })
})

describeContained('on a machine with the umask 077 (skipped where runc, conmon or socat is missing)', () => {
  testAsRoot('an instance may enter its system directories', async () => {
    const umask = process.umask(0o077)
    try {
      const said = await runInside('masked', 'test -x /etc && cat /etc/passwd && echo Read')
      expect(said).toContain('Read')
    } finally {
      process.umask(umask)
    }
  })
})

describeContained('in a data directory with an unusual name (skipped where runc, conmon or socat is missing)', () => {
  test.each(['données', 'a:b c'])('security 250: instances are contained: %s', async (name) => {
    const other = join(root(), name)
    mkdirSync(other, { mode: 0o711 })
    await withRuntimeIn(other, async () => expect(await runInside('unusual', 'echo Started')).toContain('Started'))
  })
})

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describeContained, useContainedRuntime } from '../../../support/platform/containedInstances'
import { until } from '../../../support/platform/until'

const { root, runtime, spec, find, hasEnded, lines, withRunc } = useContainedRuntime()

describeContained('while runc starts a container (skipped where runc, conmon or socat is missing)', () => {
  test('a stop is not lost: the program gets its stop command', async () => {
    const begun = join(root(), 'begun')
    await withRunc(`case "$*" in *" start slow-"*) touch ${begun}; sleep 0.5;; esac`, async () => {
      const stop = { command: 'stop', timeoutSeconds: 3 }
      const started = runtime().ensure(spec('slow', ['sh', '-c', 'read line; echo "heard $line"'], { stop }))
      await until(() => existsSync(begun))
      await runtime().stop('slow')
      await started
      await hasEnded('slow')
      expect(await lines('slow')).toContain('heard stop')
      expect(await find('slow')).toMatchObject({ exit: { code: 0, requested: true, orderly: true } })
    })
  })
})

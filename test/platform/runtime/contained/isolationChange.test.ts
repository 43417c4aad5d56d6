import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRuntime } from '../../../../src/platform/runtime/openRuntime'
import { describeContained, useContainedRuntime } from '../../../support/platform/containedInstances'
import { instanceSpec, pathsIn } from '../../../support/platform/instanceSpec'
import { until } from '../../../support/platform/until'

const { root, shareDir, settings } = useContainedRuntime()

/** Saves a file at its start, and another text a second after it was asked to stop. */
const SAVING = `
  const save = (text) => require('node:fs').writeFileSync('saved.txt', text)
  save('at the start')
  process.on('SIGTERM', () => setTimeout(() => (save('at the stop'), process.exit(0)), 1000))
  setInterval(() => undefined, 1000)
  console.log('Ready')`

describeContained('when instances move between processes and containers (skipped where these are missing)', () => {
  test.each([
    ['off', 'auto'],
    ['auto', 'off'],
  ] as const)(
    'what one saves while it stops, as the isolation changes from %s to %s, is written back',
    async (from, to) => {
      const dataDir = join(root(), `from-${from}`)
      const directory = join(shareDir(), from)
      for (const path of [dataDir, directory]) mkdirSync(path, { mode: 0o711 })
      const open = async (isolation: 'auto' | 'off') =>
        (await openRuntime({ ...settings(), dataDir, isolation, paths: pathsIn(shareDir) })).runtime
      const before = await open(from)
      await before.ensure(
        instanceSpec({
          podName: `saving-${from}`,
          command: ['node', '-e', SAVING],
          dataDirectory: `/${from}`,
          copy: true,
          keep: ['saved.txt'],
          ready: 'Ready',
          stop: { command: undefined, timeoutSeconds: 10 },
        }),
      )
      await until(
        () => before.list(),
        ([run]) => run?.state === 'RUNNING',
      )
      await before.close()
      const after = await open(to)
      await until(
        () => after.history(`saving-${from}`, 10),
        (lines) => lines.some(({ content }) => content.includes('written back')),
      )
      await after.close()
      expect(readFileSync(join(directory, 'saved.txt'), 'utf8')).toBe('at the stop')
    },
  )
})

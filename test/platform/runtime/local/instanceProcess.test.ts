import { join } from 'node:path'
import { ConsoleLog } from '../../../../src/platform/runtime/local/consoleLog'
import { InstanceProcess } from '../../../../src/platform/runtime/local/instanceProcess'
import type { ResourceLimiter } from '../../../../src/platform/runtime/local/resourceLimiter'
import { newRunRecord } from '../../../../src/platform/runtime/local/runRecord'
import { localSpec } from '../../../support/platform/instanceSpec'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()
const limiter: ResourceLimiter = {
  description: '',
  enforced: { cpu: false, memory: false },
  apply: () => undefined,
  release: () => undefined,
}

test.each(['stop', 'kill'] as const)(
  'a %s before the program was started says so, without an exit code',
  async (end) => {
    const spec = localSpec({ podName: end, command: ['cat'], directory: directory() })
    const log = new ConsoleLog(join(directory(), `${end}.log`))
    const run = new InstanceProcess(newRunRecord(spec), join(directory(), end), log, limiter, () => undefined)
    const started = run.start(spec)
    run[end]()
    await started
    expect(log.since(1).map(({ content }) => content)).toEqual(['[System] Stopped before it was started.'])
    expect(run.record).toMatchObject({
      state: 'EXITED',
      exit: { code: null, requested: true, orderly: false, failure: 'Stopped before it was started.' },
    })
  },
)

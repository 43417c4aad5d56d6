import pino from 'pino'
import { AppError } from '../../../src/platform/errors'
import { DirectorySync } from '../../../src/platform/share/replicas/directorySync'
import { until } from '../../support/platform/until'

test('a directory that changes while it cannot be copied is logged once for each reason', async () => {
  const full = () => new AppError('DISK_FULL', 'The disk is full.')
  const away = () => new AppError('UNAVAILABLE', 'The disk does not answer.')
  const results = [full(), full(), away(), undefined, full()]
  const logged: string[] = []
  let syncs = 0
  const sync = new DirectorySync({
    directory: '/nfsshare/lobby',
    update: async () => {
      const failure = results[syncs++]
      if (failure) throw failure
      return 1
    },
    onState: () => undefined,
    log: pino(
      { level: 'warn' },
      { write: (line) => void logged.push((JSON.parse(line) as { err: Error }).err.message) },
    ),
  })
  try {
    for (const count of results.keys()) {
      sync.schedule()
      await until(() => syncs === count + 1)
    }
    await until(() => sync.problem !== undefined)
    expect(logged).toEqual([full(), away(), full()].map(({ message }) => message))
  } finally {
    sync.close()
  }
})

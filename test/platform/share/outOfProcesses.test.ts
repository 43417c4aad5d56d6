import { fileFailure } from '../../../src/platform/share/fileFailure'
import { createJail } from '../../../src/platform/share/jail'
import { createListing } from '../../../src/platform/share/listing/listing'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

// A worker at the limit of processes, which counts threads.
jest.mock('node:worker_threads', () => ({
  ...jest.requireActual<object>('node:worker_threads'),
  Worker: class {
    constructor() {
      throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' })
    }
  },
}))

const directory = useTemporaryDirectory()

test('security 206: a directory is not listed at the limit of processes, and the reason says that it passes', async () => {
  const listing = createListing(createJail(directory()))
  await expect(listing.list('/nfsshare', null)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'The system’s limit of processes is reached. Try again in a moment.',
  })
  await listing.close()
})

test('security 206: an archive for which no process can be started is refused with the same reason', () => {
  const error = Object.assign(new Error('spawn node EAGAIN'), { code: 'EAGAIN', syscall: 'spawn /usr/bin/node' })
  expect(fileFailure(error, 'a.zip')).toMatchObject({
    code: 'UNAVAILABLE',
    message: 'The system’s limit of processes is reached. Try again in a moment.',
  })
})

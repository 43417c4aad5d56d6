import { join } from 'node:path'
import { constants } from 'node:os'
import { AppError } from '../../../src/platform/errors'
import { fileFailure } from '../../../src/platform/share/fileFailure'
import { useFileCalls } from '../../support/platform/fileCalls'
import { hungDiskMissing, mountDeadDisk } from '../../support/platform/hungDisk'

const testDead = hungDiskMissing === undefined ? test : test.skip
const { share, call, at, list, entriesOf, read, makeDirectory } = useFileCalls()

testDead(
  'security 216: a dead mount within the shared area is listed with its neighbours, and the failure of a call names it',
  async () => {
    const path = await makeDirectory('neighbours', { 'notes.txt': 'text', 'empty.txt': '' })
    const recover = mountDeadDisk(join(share(), 'neighbours/dead'))
    try {
      expect((await entriesOf(path)).map(({ name, type, isText }) => ({ name, type, isText }))).toEqual(
        expect.arrayContaining([
          { name: 'notes.txt', type: '-', isText: true },
          { name: 'empty.txt', type: '-', isText: true },
          { name: 'dead', type: 'd', isText: false },
        ]),
      )
      const dead = `${path}/dead`
      const file = `${dead}/a.txt`
      const answers: [answer: Awaited<ReturnType<typeof call>>, named: string][] = [
        [await list(dead), dead],
        [await read(file), file],
        [await call('PATCH', 'file/content', { path: file, content: '' }), file],
        [await call('POST', 'file', { path: file, content: '' }), file],
        [await call('POST', 'directory', { path: `${dead}/new` }), `${dead}/new`],
        [await call('POST', 'move', { sourcePath: `${path}/notes.txt`, targetPath: file }), file],
        [await call('POST', 'archive', { path }), path],
        [await call('POST', 'unarchive', { path: `${dead}/a.zip` }), `${dead}/a.zip`],
        [await call('POST', 'download-multiple', { files: [{ path: file, name: 'a.txt' }] }), file],
        [await call('DELETE', `file?${at(file)}`), file],
      ]
      for (const [answer, named] of answers) {
        const message = `${named} does not answer. Check its disk or its mount.`
        expect(answer).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE', message } })
      }
    } finally {
      recover()
    }
    expect((await list(`${path}/dead`)).body.data.files).toEqual([])
  },
)

test.each([
  ['ENOTCONN', 'the program of a FUSE mount has ended'],
  ['EHOSTDOWN', 'the server of a CIFS mount is down'],
  ['EHOSTUNREACH', 'the server of a network mount cannot be reached'],
  ['ENODEV', 'the device is gone'],
  ['ESHUTDOWN', 'the file system was shut down'],
  // Node.js has no name for these two, with which ext4 and XFS answer what is damaged.
  ['Unknown system error -117', 'EUCLEAN'],
  [`Unknown system error -${constants.errno.EBADMSG}`, 'EBADMSG'],
])('security 216: %s (%s) is no bug, but a disk that does not answer', (code) => {
  const failure = fileFailure(Object.assign(new Error('lstat'), { code }), '/nfsshare/a')
  expect(failure).toBeInstanceOf(AppError)
  expect(failure).toMatchObject({
    code: 'UNAVAILABLE',
    message: '/nfsshare/a does not answer. Check its disk or its mount.',
  })
  expect(fileFailure(Object.assign(new Error('lstat'), { code }), '/nfsshare')).toMatchObject({
    message: 'The shared area does not answer. Check its disk or its mount.',
  })
})

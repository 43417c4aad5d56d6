import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { useRawConnections } from '../../support/platform/rawConnections'
import { until } from '../../support/platform/until'
import { useUploadRequests, formOf } from '../../support/platform/uploadRequests'

const { platform, ann, share, port, makeDirectory, descriptors, temporaryRecords } = useUploadRequests()
const connect = useRawConnections(platform)

test('security 21: a thousand aborted uploads leave no file, no temporary file and no open descriptor', async () => {
  const path = await makeDirectory('aborted', { 'kept.bin': 'kept' })
  const { body, type } = formOf({ path }, 'kept.bin', randomBytes(200_000))
  const abort = (index: number) =>
    new Promise<void>((resolve) => {
      const sending = httpRequest({
        port: port(),
        host: '127.0.0.1',
        path: '/api/sftp/upload',
        method: 'POST',
        headers: { authorization: `Bearer ${ann().token}`, 'content-type': type, 'content-length': body.length },
      })
      sending.on('error', () => resolve())
      sending.on('close', () => resolve())
      const part = body.subarray(0, 300 + ((index * 7919) % (body.length - 400)))
      sending.write(part, () => sending.destroy())
    })
  for (let index = 0; index < 1000; index += 20)
    await Promise.all(Array.from({ length: 20 }, (_, offset) => abort(index + offset)))
  await until(async () => (await temporaryRecords()).length === 0)
  expect(await readdir(join(share(), 'aborted'))).toEqual(['kept.bin'])
  expect(await readFile(join(share(), 'aborted/kept.bin'), 'utf8')).toBe('kept')
  await until(descriptors, (open) => open.length === 0)
})

test('security 21: a body shorter or longer than its declared length leaves no file', async () => {
  const path = await makeDirectory('lengths')
  const { body, type } = formOf({ path }, 'a.bin', Buffer.alloc(5000))
  for (const length of [body.length + 100, body.length - 1000]) {
    const socket = connect()
    socket.write(
      `POST /api/sftp/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ann().token}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`,
    )
    await new Promise((resolve) => socket.end(body, () => resolve(undefined)))
    await new Promise((resolve) => socket.resume().once('close', resolve))
  }
  await until(async () => (await temporaryRecords()).length === 0)
  expect(await readdir(join(share(), 'lengths'))).toEqual([])
})

test('§2 deleting a user aborts their uploads, which leave no file', async () => {
  const path = await makeDirectory('of-a-deleted-user')
  const bob = await platform().register('bob')
  const { body, type } = formOf({ path }, 'late.txt', Buffer.alloc(1000))
  const socket = connect()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.resume()
  socket.write(
    `POST /api/sftp/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bob.token}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  socket.write(body.subarray(0, -100))
  await until(async () => (await temporaryRecords()).length === 1)
  const { id } = (
    (await platform().call('GET', '/api/users', { token: ann().token })).body.data as {
      users: { id: number; username: string }[]
    }
  ).users.find(({ username }) => username === 'bob')!
  expect(await platform().call('DELETE', `/api/users/${id}`, { token: ann().token })).toMatchObject({ status: 200 })
  await closed
  await until(async () => (await temporaryRecords()).length === 0)
  expect(await readdir(join(share(), 'of-a-deleted-user'))).toEqual([])
})

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { useDownloadRequests } from '../../support/platform/downloadRequests'
import { until } from '../../support/platform/until'

const { platform, ann, cyd, share, ticketFor, download } = useDownloadRequests()

describe('security 14: a ticket', () => {
  beforeAll(() => writeFile(join(share(), 'ticketed'), 'content'))
  const path = '/nfsshare/ticketed'

  test('is valid for one use, even for ten concurrent ones', async () => {
    const token = await ticketFor(path)
    const answers = await Promise.all(Array.from({ length: 10 }, () => download(path, token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 401)])
    await Promise.all(answers.map((answer) => answer.text()))
  })

  test('is valid for one path', async () => {
    const token = await ticketFor(path)
    expect((await download('/nfsshare/world.dat', token)).status).toBe(401)
    expect((await download(path, token)).status).toBe(401)
  })

  test('is valid for 60 seconds', async () => {
    const [inTime, late] = [await ticketFor(path), await ticketFor(path)]
    platform().clock.now += 59_000
    expect((await download(path, inTime)).status).toBe(200)
    platform().clock.now += 1000
    expect((await download(path, late)).status).toBe(401)
  })

  test('is one of at most 100 that a session has not used: one more ends the oldest', async () => {
    const dan = await platform().register('dan')
    const of = (token: string) => ticketFor(path, token)
    const other = await of(cyd().token)
    const oldest = await of(dan.token)
    platform().clock.now += 1
    const second = await of(dan.token)
    for (let made = 2; made < 101; made++) {
      platform().clock.now += 1
      await of(dan.token)
    }
    expect((await download(path, oldest)).status).toBe(401)
    expect((await download(path, second)).status).toBe(200)
    expect((await download(path, other)).status).toBe(200)
  })

  test('is not a session, and a session token is not a ticket', async () => {
    expect((await download(path, ann().token)).status).toBe(401)
    expect(
      await platform().call('GET', '/api/sftp/files?path=%2Fnfsshare', { token: await ticketFor(path) }),
    ).toMatchObject({ status: 401 })
  })

  test('security 6: expires with the session that requested it', async () => {
    const bob = await platform().register('bob')
    const token = await ticketFor(path, bob.token)
    await platform().call('POST', '/api/auth/logout', { token: bob.token })
    expect((await download(path, token)).status).toBe(401)
  })

  test('is never logged', async () => {
    const token = await ticketFor(path)
    await download(path, token)
    await until(() => platform().logged.some((line) => line.includes('/api/sftp/download"')))
    expect(platform().logged.filter((line) => line.includes(token))).toEqual([])
  })
})

import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openStatePool } from '../../../src/platform/state/db'
import { tryLeasedLock } from '../../../src/platform/state/locks/leasedLock'
import type { Account } from '../../support/platform/startPlatform'
import { callsBegun } from '../../support/platform/callsBegun'
import { startReplicas, type TestReplicas } from '../../support/platform/startReplicas'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()
let replicas: TestReplicas
let ann: Account
let bob: Account

beforeAll(async () => {
  replicas = await startReplicas(directory())
  ann = await replicas.one.register('ann')
  bob = await replicas.one.register('bob')
})
afterAll(() => replicas.close())

test('security 67: slow file changes of one user do not block those of others', async () => {
  const { one, shareDir, databaseUrl } = replicas
  const pool = openStatePool(databaseUrl)
  const names = Array.from({ length: 20 }, (_name, at) => `held-${at}`)
  for (const name of names) mkdirSync(join(shareDir, name))
  // Another replica that deletes large directories holds these locks.
  const keys = names.map((name) => `entry ${statSync(shareDir).ino}:${name}`)
  const lock = await tryLeasedLock(pool, keys)
  try {
    const begun = callsBegun(names.length)
    const waiting = names.map((name) =>
      one.call('DELETE', `/api/sftp/directory?path=%2Fnfsshare%2F${name}`, { token: bob.token }),
    )
    await begun
    const created = one.call('POST', '/api/sftp/file', {
      token: ann.token,
      body: { path: '/nfsshare/ann.txt', content: '' },
    })
    // It is answered while the deletions still wait for the locks.
    expect(await Promise.race([created, ...waiting])).toMatchObject({ status: 201 })
    await lock?.release()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(names.map(() => 200))
  } finally {
    await lock?.release()
    await pool.end()
  }
})

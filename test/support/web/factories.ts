import type { ActivityEntry, InviteCode, User } from '../../../src/contract/admin'
import type { Database } from '../../../src/contract/database'
import type { Deployment } from '../../../src/contract/deployment'
import type { FileEntry } from '../../../src/contract/file'
import type { Instance } from '../../../src/contract/instance'

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * A token as the platform creates them; the signature is not checked here. `expiresAt` is in milliseconds, and `name`
 * is only displayed.
 */
export const tokenOf = (
  username: string,
  { id = username, expiresAt = Date.now() + 3_600_000, name = undefined as string | undefined } = {},
) =>
  `${encode({ alg: 'HS256' })}.${encode({ preferred_username: name, sub: username, jti: id, exp: Math.floor(expiresAt / 1000) })}.signature`

export const deploymentOf = (name: string, more: Partial<Deployment> = {}): Deployment => ({
  name,
  typeIndex: 2,
  enabled: true,
  path: `/nfsshare/${name}`,
  dataDirectory: `/${name}`,
  ...more,
})

export const instanceOf = (name: string, more: Partial<Instance> = {}): Instance => ({
  uid: `uid-${name}`,
  name,
  deployment: name.slice(name.indexOf('-') + 1),
  podName: `pod-${name}`,
  ip: '10.0.0.1',
  state: 'RUNNING',
  type: 'minecraft',
  connections: 0,
  uptime: '3h 12m',
  cpu: 1,
  memory: { used: 1, total: 2 },
  ...more,
})

/** An entry by its path below the shared root; a path that ends with a slash is a directory. */
export const entryOf = (path: string, more: Partial<FileEntry> = {}): FileEntry => {
  const at = `/nfsshare/${path.replace(/\/$/, '')}`
  const type = path.endsWith('/') ? 'd' : '-'
  return {
    name: at.slice(at.lastIndexOf('/') + 1),
    path: at,
    type,
    size: 10,
    modifyTime: 1_760_000_000_000,
    isText: type === '-',
    ...more,
  }
}

export const userOf = (id: number, username: string, is_admin = false): User => ({ id, username, is_admin })

export const inviteOf = (code: string, message: string, more: Partial<InviteCode> = {}): InviteCode => ({
  code,
  message,
  created_at: '2026-11-01T10:00:00.000Z',
  used_by: null,
  revoked: false,
  is_expired: false,
  ...more,
})

export const activityOf = (id: number, more: Partial<ActivityEntry> = {}): ActivityEntry => ({
  id,
  at: Date.now() - 600_000,
  username: 'ann',
  kind: 'deployment',
  action: 'deleted deployment',
  subject: 'lobby',
  address: '10.0.0.1',
  succeeded: true,
  ...more,
})

export const databaseOf = (name: string, more: Partial<Database> = {}): Database => ({
  name,
  size: 7_864_320,
  tables: 3,
  credentials: { username: name, password: `password-of-${name}`, host: 'db.example', port: 5432, database: name },
  ...more,
})

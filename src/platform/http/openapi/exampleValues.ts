import type { ApiKey, UserAccess } from '../../../contract/access'
import type { Database } from '../../../contract/database'
import type { Deployment } from '../../../contract/deployment'
import type { FileEntry, SeveralFiles } from '../../../contract/file'
import type { Instance } from '../../../contract/instance'

export const UUID = '6f1c9a1e-4f0b-4a57-9c0e-0d6a5b1f2c3d'
export const OTHER_UUID = '0b7d3a52-91c4-4e0a-8f36-5c2e1d7a9b40'
export const NOON = Date.UTC(2026, 0, 31, 12)

export const TODAY = new Date(NOON).toISOString()
export const LATER = new Date(NOON + 90 * 86_400_000).toISOString()
export const INVITE_CODE = 'KQ3V-9XBT-M7WD'
export const RECOVERY_CODE = 'K7QD-2MXR-9TPW-6HJ4'
/** Stands for any opaque value of the server or an authenticator. */
export const OPAQUE = 'Zk1c0tQ8mX2vL9rKc4WnB'

export const deployment: Deployment = {
  name: 'lobby',
  typeIndex: 2,
  enabled: true,
  path: '/nfsshare/lobby',
  dataDirectory: '/lobby',
  description: 'Where players arrive',
}

export const instance: Instance = {
  uid: UUID,
  name: '3fa9c1-lobby',
  deployment: 'lobby',
  podName: 'lobby-3fa9c1',
  ip: '127.0.0.1',
  players: { '0f3c9e6a-7d21-4f5e-9a3b-2b8d1c4e5f60': 'Steve' },
  playerCount: 1,
  state: 'RUNNING',
  type: 'minecraft',
  connections: 1,
  uptime: '3h 12m',
  cpu: 12.5,
  memory: { used: 0.9, total: 2 },
  port: 25_565,
  startedAt: NOON,
}

export const database: Database = {
  name: 'lobby',
  size: 8_388_608,
  tables: 4,
  credentials: {
    username: 'lobby',
    password: 'tQ8mX2vL9rKc4WnB',
    host: 'panel.example.org',
    port: 5432,
    database: 'lobby',
    connectionString: 'postgresql://lobby:tQ8mX2vL9rKc4WnB@panel.example.org:5432/lobby',
  },
}

export const CONTENT = 'name: lobby\ntype: scalable\ndataDirectory: /lobby\nrun:\n  jar: server.jar\n'

export const entries: FileEntry[] = [
  { name: 'world', path: '/nfsshare/lobby/world', type: 'd', size: 4096, modifyTime: NOON, isText: false },
  {
    name: 'server.properties',
    path: '/nfsshare/lobby/server.properties',
    type: '-',
    size: 1310,
    modifyTime: NOON,
    isText: true,
  },
]

export const severalFiles: SeveralFiles = { files: entries.map(({ path, name }) => ({ path, name })) }

export const access: UserAccess = { role: 'limited', grants: [{ deployment: 'lobby', rights: ['view', 'console'] }] }

export const apiKey: ApiKey = {
  id: UUID,
  name: 'Nightly restart',
  scopes: ['read', 'power'],
  deployments: ['lobby'],
  prefix: 'qd_kQ3v',
  created_at: TODAY,
  expires_at: LATER,
  last_used_at: TODAY,
}

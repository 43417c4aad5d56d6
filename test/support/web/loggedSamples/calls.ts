import { content, grants, named, path, ref } from './values'

const apiKey = {
  id: 'a1',
  name: 'nightly',
  scopes: ['read'],
  deployments: ['lobby'],
  prefix: 'qd_a1B2',
  created_at: '2026',
  expires_at: '2027',
  last_used_at: '2026',
}
const proof = { password: 'password', code: '123456' }
const method = { id: 'm1', name: 'Laptop', created_at: '2026', last_used_at: '2026' }
const entry = { path, name: 'notes.txt', type: '-', size: 1, modifyTime: 1, isText: true }
const deployment = {
  name: 'lobby',
  typeIndex: 0,
  enabled: true,
  path: '/nfsshare/lobby',
  dataDirectory: '/lobby',
  description: 'The first world',
}
const lastExit = { code: 1, signal: 'SIGKILL', at: 1, reason: 'Ended by itself' }
const instance = {
  uid: 'u1',
  name: '0a1b2c-lobby',
  description: 'The first world',
  deployment: 'lobby',
  podName: 'lobby-0',
  ip: '127.0.0.1',
  players: { 'f00d-1': 'ann' },
  state: 'RUNNING',
  type: 'minecraft',
  connections: 0,
  uptime: '3h',
  cpu: 1,
  memory: { used: 1, total: 2 },
  lastExit,
  clusterSilentSince: 1,
  lateStart: { afterSeconds: 1, waitingFor: 'a console line that matches Done' },
  plainCommands: ['claim'],
  warnings: ['No port is free.'],
  blockedReason: 'It ended too often.',
}
const database = {
  name: 'shop',
  size: 1,
  tables: 1,
  credentials: {
    username: 'shop',
    password: 'generated',
    host: 'localhost',
    port: 5432,
    database: 'shop',
    connectionString: 'postgres://shop:generated@localhost/shop',
  },
}
export const failure = { status: 500, code: 'FAILED', message: 'The server failed.', field: 'run.port', line: 3 }
const activity = {
  id: 1,
  at: 1,
  username: 'ann',
  kind: 'file',
  action: 'created',
  subject: path,
  address: '127.0.0.1',
  succeeded: true,
  api_key: 'nightly',
}

/**
 * A sample of each call of the console, with all its fields, by endpoint: the arguments and the result. The search of
 * exported logs puts a secret in the place of each of its texts (secretLeaks.ts).
 */
export const calls: Record<string, { args?: unknown; result?: unknown; fixedCacheKey?: (args: never) => string }> = {
  login: { args: { username: 'ann', password: 'password' }, result: { username: 'ann' } },
  verifyLogin: { args: { code: '123456' }, result: { count: 1, since: 1 } },
  signInWithPasskey: { args: 'alone', result: { count: 1, since: 1 } },
  verifyRecoveryCode: { args: { recoveryCode: 'AAAA-BBBB' }, result: { count: 1, since: 1 } },
  verifyInvite: { args: { inviteCode: 'invite' }, result: { inviteToken: 'token' } },
  register: {
    args: { username: 'ann', password: 'password', inviteToken: 'token' },
    result: { qrCode: 'data:image/png;base64,AAAA', secret: 'JBSWY3DP' },
  },
  verifyRegistration: { args: { username: 'ann', token: '123456', inviteToken: 'token' }, result: null },
  logout: { result: null },
  getSignInMethods: { result: { passkeys: true } },
  getClockProblem: { result: 'The clock differs.' },

  getAccount: {
    result: {
      role: 'limited',
      grants: [{ deployment: 'lobby', rights: ['view', 'console'] }],
      previous_sign_in: { at: '2026-11-20T10:02:00.000Z', address: '10.0.0.7' },
    },
  },
  getOwnSessions: {
    result: [{ id: 's1', device: 'Firefox', address: '::1', created_at: '2026', last_used_at: '2026', current: true }],
  },
  endSession: { args: 's1', result: null },
  endOtherSessions: { result: null },
  changePassword: { args: { proof, newPassword: 'another' }, result: null },

  getApiKeys: { result: [apiKey] },
  createApiKey: {
    args: { name: 'nightly', scopes: ['read'], deployments: ['lobby'], expires_at: '2027' },
    result: { info: apiKey, text: 't1' },
  },
  deleteApiKey: { args: 'a1', result: null },

  getOwnMethods: { result: { authenticators: [method], passkeys: [method], recoveryCodes: 10 } },
  renameMethod: { args: { table: 'passkeys', id: 'm1', name: 'Laptop' }, result: null },
  removeMethod: { args: { table: 'passkeys', id: 'm1', proof }, result: null },
  beginAuthenticator: { args: { proof }, result: { text: 't1' } },
  confirmAuthenticator: { args: { setup: 'token', name: 'Phone', code: '123456' }, result: null },
  beginPasskey: { args: { proof }, result: { text: 't1' } },
  createPasskey: { args: { name: 'Laptop', options: '{"challenge":"challenge"}' }, result: null },
  createRecoveryCodes: { args: { proof }, result: { text: 't1' } },
  getOpenIdConnection: { result: { name: 'Harbour', connected: true, own: false } },
  connectOpenId: { args: { proof }, result: { text: 't1' } },
  disconnectOpenId: { result: null },

  getUsers: { result: [{ id: 1, username: 'ann', is_admin: true, role: 'administrator', last_seen: '2026' }] },
  setAdmin: { args: { id: 1, is_admin: true }, result: null },
  setPassword: { args: { id: 1, password: 'password' }, result: null },
  deleteUser: { args: 1, result: null },
  getInviteCodes: {
    result: [
      {
        code: 'invite',
        message: 'for bob',
        created_at: '2026',
        used_by: 'bob',
        revoked: false,
        is_expired: false,
        expires_at: '2026',
        role: 'limited',
        grants,
      },
    ],
  },
  createInviteCode: { args: { message: 'for bob', role: 'limited', grants }, result: null },
  deleteInviteCode: { args: { code: 'invite', used_by: null, revoked: false }, result: null },
  getDashboardHost: { result: 'dashboard.example' },
  getDashboardToken: { result: 'token' },
  createDashboardToken: { result: null },
  deleteDashboardToken: { result: null },
  getUserAccess: { args: 1, result: { role: 'limited', grants } },
  setUserAccess: { args: { id: 1, role: 'limited', grants }, result: null },
  getUserMethods: {
    args: 1,
    result: { authenticators: [method], passkeys: [method], recoveryCodes: 10, hasPassword: true, singleSignOn: false },
  },
  getUserSessions: {
    args: 1,
    result: [{ id: 's1', device: 'Firefox', address: '::1', created_at: '2026', last_used_at: '2026', current: true }],
  },
  endUserSession: { args: { id: 1, of: 's1' }, result: null },
  endUserSessions: { args: 1, result: null },
  getUserKeys: { args: 1, result: [apiKey] },
  deleteUserKey: { args: { id: 1, of: 'a1' }, result: null },
  getActivity: {
    args: { kind: 'file', username: 'ann', search: 'lobby' },
    result: {
      pages: [{ entries: [activity, { ...activity, id: 2, succeeded: false }], hasMore: false }],
      pageParams: [null],
    },
  },

  getFiles: { args: '/nfsshare/plugins', result: { files: [entry], deploymentTypeIndex: null, version: '"etag"' } },
  createFile: { args: path, result: null },
  createDirectory: { args: path, result: null },
  createDirectories: { args: [path], result: { existing: [path], failed: [{ path, message: 'No room.' }] } },
  deleteFiles: { args: [ref], result: null },
  moveFiles: { args: [{ path, targetPath: `${path}2` }], result: null },
  renameFile: { args: { path, targetPath: `${path}2` }, result: null },
  downloadFile: { args: ref, result: null, fixedCacheKey: (args: { path: string }) => `download ${args.path}` },
  downloadFiles: { args: { items: [ref], as: 'plugins.zip' }, result: null, fixedCacheKey: () => 'download' },
  openFile: { args: path, result: { text: 't1', characters: 3, lines: 1, encoding: 'utf-8', modifyTime: 1 } },
  saveFile: { args: { path, text: 't1', encoding: 'utf-8', modifyTime: 1 }, result: { modifyTime: 1 } },
  archiveFiles: { args: [ref], result: ['notes.zip'] },
  unarchiveFile: { args: ref, result: ['notes.txt'] },
  getFileJobs: { result: [{ id: 'j1', kind: 'archive', paths: [path], done: 1, total: 2, entry: 'notes.txt' }] },
  cancelFileJob: { args: 'j1', result: null },

  getDatabases: { args: 'sql', result: [database] },
  createDatabase: { args: named, result: [database] },
  resetDatabasePassword: { args: named, result: [database] },
  deleteDatabase: { args: named, result: null },

  getOverview: {
    result: {
      managerSilent: false,
      sections: [{ deployment, instances: [instance], failure }],
      disks: [{ name: 'data', level: 'low', free: 1, total: 2 }],
    },
  },
  getDeployments: { result: [deployment] },
  getNodes: {
    result: {
      nodes: ['one'],
      details: [{ name: 'one', ready: true, cpu: { free: 1, total: 2 }, memory: { free: 1, total: 2 } }],
    },
  },
  createDeployment: { args: { name: 'lobby', type: 'process', node: 'one' }, result: null },
  deleteDeployment: { args: 'lobby', result: null },
  toggleDeployment: {
    args: { name: 'lobby', enabled: true },
    result: null,
    fixedCacheKey: ({ name }: { name: string }) => `toggle ${name}`,
  },
  restartDeployment: { args: 'lobby', result: null, fixedCacheKey: (name: string) => `restart ${name}` },
  getDeploymentConfig: { args: 'lobby', result: { content, revision: 'r1', warnings: ['No port is free.'] } },
  saveDeploymentConfig: {
    args: { name: 'lobby', content, revision: 'r1' },
    result: { made: { revision: 'r2' }, warnings: ['No port is free.'] },
  },

  getInstances: { args: 'lobby', result: [instance] },
  getMetric: { args: { metric: 'cpu', pod: 'lobby-0' }, result: [{ timestamp: 1, value: 1 }] },
  getCrashCapsule: {
    args: { deployment: 'lobby', uid: 'u1', crashedAt: 1 },
    result: { exit: lastExit, cpu: [], memory: [], lines: [{ seq: 1, type: 'message', content: 'Done' }] },
  },
}

import {
  access,
  apiKey,
  CONTENT,
  database,
  deployment,
  entries,
  instance,
  INVITE_CODE,
  LATER,
  NOON,
  OPAQUE,
  OTHER_UUID,
  RECOVERY_CODE,
  TODAY,
  UUID,
} from './exampleValues'

const SESSION = 'V7d0aTq1c9uWkZp3'
const disk = { name: 'data', free: 42_949_672_960, total: 107_374_182_400, level: 'ok' }
const options = { challenge: OPAQUE }
const session = {
  id: UUID,
  device: 'Firefox on Linux',
  address: '203.0.113.7',
  created_at: TODAY,
  last_used_at: TODAY,
  current: true,
}
const methods = {
  authenticators: [{ id: UUID, name: 'Phone', created_at: TODAY, last_used_at: TODAY }],
  passkeys: [{ id: OTHER_UUID, name: 'Laptop', created_at: TODAY }],
  recoveryCodes: 9,
}
const archiveFile = { name: 'world.zip', path: '/nfsshare/lobby/world.zip' }
const invite = {
  code: INVITE_CODE,
  message: 'For Alex',
  created_at: TODAY,
  used_by: null,
  revoked: false,
  is_expired: false,
  expires_at: LATER,
  ...access,
}

/** What `data` of the responses holds, by operation id. */
export const responseExamples: Record<string, object> = {
  logIn: { sessionToken: OPAQUE },
  verifyLogIn: { token: 'V7d0aTq1c9uWkZp3', isAdmin: 0 },
  listDeployments: { deployments: [deployment] },
  getConfiguration: { content: CONTENT, revision: '4' },
  saveConfiguration: { revision: '5' },
  listInstances: { instances: [instance] },
  listFiles: { files: entries, deploymentTypeIndex: 2 },
  readFile: { content: 'motd=Welcome\n', encoding: 'utf-8', modifyTime: NOON },
  saveFile: { modifyTime: NOON },
  listDatabases: { databases: [database] },
  createDatabase: database,
  resetDatabasePassword: database,
  listUsers: { users: [{ id: 1, username: 'steve', is_admin: true }] },
  getCpuUsage: { data: [{ timestamp: NOON, value: 125 }] },
  getMemoryUsage: { data: [{ timestamp: NOON, value: 943_718 }] },
  getHealth: { parts: ['database', 'runtime', 'cluster', 'share'], isolation: 'contained', disks: [disk] },
  getSignInMethods: { passkeys: true, openId: { name: 'Example', available: true } },
  verifyInvite: { token: OPAQUE },
  register: { qrCode: 'data:image/png;base64,iVBORw0KGgo=', secret: 'JBSWY3DPEHPK3PXP' },
  verifyRegistration: { loginToken: SESSION, isAdmin: 0 },
  verifyRecoveryCode: { token: SESSION, isAdmin: 0, wrongCodes: { count: 2, since: NOON } },
  getPasskeyOptions: { options },
  verifyPasskey: { token: SESSION, isAdmin: 0 },
  getPasskeyLoginOptions: { options },
  logInWithPasskey: { token: SESSION, isAdmin: 0 },
  getOpenIdConnection: { name: 'Example', connected: true, own: false },
  connectOpenId: { url: 'https://id.example.org/authorize?client_id=quarterdeck&state=Zk1c0tQ8' },
  listSessions: { sessions: [session] },
  listSignInMethods: methods,
  getProofOptions: { options },
  prove: { proof: OPAQUE },
  beginAuthenticator: { setup: OPAQUE, qrCode: 'data:image/png;base64,iVBORw0KGgo=', secret: 'JBSWY3DPEHPK3PXP' },
  beginPasskey: { options },
  createRecoveryCodes: { codes: [RECOVERY_CODE, 'V3NC-8HFJ-4WZT-E5SB'] },
  getAccount: { ...access, id: 7, username: 'steve', previous_sign_in: { at: TODAY, address: '203.0.113.7' } },
  listKeys: { keys: [apiKey] },
  createKey: { key: `qd_kQ3v${'0'.repeat(36)}`, info: apiKey },
  getDashboardHost: { host: 'https://dashboard.example.org' },
  getDashboardToken: { token: null },
  createDashboardToken: { token: 'eyJhbGciOiJSUzI1NiJ9.e30.c2ln' },
  deleteDashboardToken: { token: null },
  getManagerTimestamp: { timestamp: NOON, disks: [disk] },
  listNodes: {
    nodes: ['node-a'],
    details: [
      {
        name: 'node-a',
        ready: true,
        cpu: { free: 3.5, total: 4 },
        memory: { free: 6_657_199_104, total: 8_589_934_592 },
      },
    ],
  },
  getCrash: {
    exit: { code: 1, signal: null, at: NOON, reason: 'Ended by itself with exit code 1.' },
    lines: [{ seq: 812, type: 'error', content: 'java.net.BindException: Address already in use' }],
    cpu: [{ timestamp: NOON, value: 125 }],
    memory: [{ timestamp: NOON, value: 943_718 }],
  },
  listPeers: {
    deployments: {
      lobby: [
        { podName: 'lobby-3fa9c1', ip: '127.0.0.1', port: 25_565, state: 'RUNNING', players: 1, draining: false },
      ],
    },
  },
  createDownloadTicket: { token: OPAQUE },
  archive: { files: [archiveFile] },
  archiveSeveral: { files: [archiveFile] },
  unarchive: { files: [{ name: 'world', path: '/nfsshare/lobby/world' }] },
  listFileJobs: {
    jobs: [
      {
        id: UUID,
        kind: 'archive',
        paths: ['/nfsshare/lobby/world'],
        done: 412,
        total: 1310,
        entry: 'world/region/r.0.0.mca',
      },
    ],
  },
  upload: { files: [{ name: 'plugin.jar', path: '/nfsshare/lobby/plugins/plugin.jar' }] },
  listInviteCodes: { codes: [invite] },
  createInviteCode: invite,
  listActivity: {
    entries: [
      {
        id: 5120,
        at: NOON,
        username: 'steve',
        kind: 'power',
        action: 'restarted deployment',
        subject: 'lobby',
        address: '203.0.113.7',
        succeeded: true,
        api_key: 'Nightly restart',
      },
    ],
    hasMore: false,
  },
  getUserAccess: access,
  listUserMethods: { ...methods, hasPassword: true, singleSignOn: false },
  listUserSessions: { sessions: [{ ...session, current: false }] },
  listUserKeys: { keys: [apiKey] },
}

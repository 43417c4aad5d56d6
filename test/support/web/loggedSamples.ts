/**
 * A sample of each call and action of the console, with all its fields. The search of exported logs puts a secret in the
 * place of each of its texts (secretLeaks.ts).
 */

const path = '/nfsshare/plugins/notes.txt'
const entry = { path, name: 'notes.txt', type: '-', size: 1, modifyTime: 1, isText: true }
const ref = { path, name: 'notes.txt', type: '-' }
const named = { type: 'sql', name: 'shop' }
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
const content =
  'name: lobby\ntype: process\ndescription: The first world\ndataDirectory: /lobby\nnode: one\n' +
  'run:\n  command: ["node", "-e", "run"]\n  env: { KEY: value }\nready: Done\n# a comment\n'
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
}

/** By endpoint: the arguments and the result. */
export const calls: Record<string, { args?: unknown; result?: unknown; fixedCacheKey?: (args: never) => string }> = {
  login: { args: { username: 'ann', password: 'password' }, result: { username: 'ann' } },
  verifyLogin: { args: { code: '123456' }, result: { count: 1, since: 1 } },
  verifyInvite: { args: { inviteCode: 'invite' }, result: { inviteToken: 'token' } },
  register: {
    args: { username: 'ann', password: 'password', inviteToken: 'token' },
    result: { qrCode: 'data:image/png;base64,AAAA', secret: 'JBSWY3DP' },
  },
  verifyRegistration: { args: { username: 'ann', token: '123456', inviteToken: 'token' }, result: null },
  logout: { result: null },
  getClockProblem: { result: 'The clock differs.' },

  getAccount: { result: { role: 'limited', grants: [{ deployment: 'lobby', rights: ['view', 'console'] }] } },
  getOwnSessions: {
    result: [{ id: 's1', device: 'Firefox', address: '::1', created_at: '2026', last_used_at: '2026', current: true }],
  },
  endSession: { args: 's1', result: null },
  endOtherSessions: { result: null },
  changePassword: { args: { password: 'password', newPassword: 'another', token: '123456' }, result: null },

  getUsers: { result: [{ id: 1, username: 'ann', is_admin: true }] },
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
      },
    ],
  },
  createInviteCode: { args: { message: 'for bob' }, result: null },
  deleteInviteCode: { args: 'invite', result: null },
  getDashboardHost: { result: 'dashboard.example' },
  getDashboardToken: { result: 'token' },
  createDashboardToken: { result: null },
  deleteDashboardToken: { result: null },
  getActivity: {
    args: { kind: 'file', search: 'lobby' },
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

/** By type of action. Undefined for an action without a payload. */
export const payloads: Record<string, unknown> = {
  'session/started': { id: 's1', isAdmin: true, subject: '1', username: 'ann', expiresAt: 1, wrongCodes: null },
  'session/ended': 'expired',
  'session/adminLearned': true,
  'session/signInRequired': '/files/plugins?sort=name#top',
  'route/changed': '/files/plugins?sort=name#top',

  'page/loaded': undefined,
  'page/shown': undefined,
  'page/left': undefined,
  '__rtkq/focused': undefined,
  '__rtkq/unfocused': undefined,
  '__rtkq/online': undefined,
  '__rtkq/offline': undefined,

  'notifications/notified': { id: 'n1', type: 'danger', message: 'Failed to create lobby' },
  'notifications/dismissed': 'n0',
  'problems/problemMet': { id: 'p1', at: 1, what: 'Failed to create lobby', reason: 'The server failed.' },
  'problems/problemsOpened': undefined,
  'problems/problemsClosed': undefined,
  'navigation/menuToggled': undefined,
  'navigation/menuClosed': undefined,
  'theme/themeChosen': 'dark',

  'login/resumed': 'ann',
  'login/usernameTyped': 'ann',
  'login/returned': undefined,
  'login/forgotOpened': undefined,
  'login/forgotClosed': undefined,
  'registration/usernameChosen': 'ann',
  'registration/left': undefined,

  'account/userMenuOpened': undefined,
  'account/userMenuClosed': undefined,
  'account/accountDialogOpened': 'export',
  'account/accountDialogClosed': undefined,
  'account/sessionEndAsked': { id: 's1' },
  'account/sessionEndDropped': undefined,
  'account/wrongCodesTold': { count: 1, since: 1 },
  'account/wrongCodesDismissed': undefined,

  'admin/dialogOpened': { kind: 'createInvite', message: 'for bob', key: 'k1', id: 1 },
  'admin/dialogClosed': 'deleteUser',
  'admin/inviteMessageTyped': 'for bob',
  'admin/inviteTried': undefined,
  'admin/usersSearched': 'bob',
  'admin/activityFiltered': { kind: 'file', search: 'lobby' },

  'files/directoryOpened': '/nfsshare/plugins',
  'files/sortChosen': 'name',
  'files/filterTyped': 'notes',
  'files/entryReached': path,
  'files/menuOpened': path,
  'files/menuClosed': undefined,
  'files/dragStarted': [ref],
  'files/dragEnded': undefined,
  'files/creationStarted': undefined,
  'files/creationEdited': { tab: 'file', name: 'notes.txt' },
  'files/deletionAsked': [ref],
  'files/deletionFailed': [path],
  'files/moveStarted': [ref],
  'files/moveFailed': [path],
  'files/destinationTyped': '/nfsshare/plugins',
  'files/renameStarted': ref,
  'files/newNameTyped': 'notes.txt',
  'files/formTried': undefined,
  'files/fileOpened': ref,
  'files/conflictMet': undefined,
  'files/draftChanged': true,
  'files/leaveAsked': { to: '/files/plugins?sort=name' },
  'files/questionAnswered': undefined,
  'files/dialogClosed': 'move',
  'selection/toggled': path,
  'selection/rangeSelected': [path],
  'selection/allSelected': [path],
  'selection/closed': undefined,

  'databases/creationStarted': 'sql',
  'databases/nameTyped': 'shop',
  'databases/deletionAsked': named,
  'databases/resetAsked': named,
  'databases/dialogClosed': undefined,
  'databases/cardToggled': named,
  'databases/tabChosen': { ...named, tab: 'connection' },
  'databases/snippetChosen': { type: 'sql', snippet: 'java' },
  'databases/filtered': 'shop',
  'databases/left': undefined,

  'overview/sectionToggled': 'lobby',
  'drafts/offersChanged': [{ kind: 'file', name: path, id: 'd1', keptAt: 1, isInterrupted: false }],
  'version/replaced': undefined,

  'deployments/creationStarted': 'process',
  'deployments/creationEdited': { name: 'lobby', type: 'process', node: 'one' },
  'deployments/creationTried': undefined,
  'deployments/deletionAsked': 'lobby',
  'deployments/dialogClosed': 'delete',
  'configuration/draftTyped': { name: 'lobby', text: content, revision: 'r1' },
  'configuration/draftRestored': { name: 'lobby', text: content, revision: 'r1' },
  'configuration/draftDropped': 'lobby2',
  'configuration/draftSaved': { name: 'lobby', text: content, revision: 'r1' },
  'configuration/conflictMet': undefined,
  'configuration/changesOpened': undefined,
  'configuration/leaveAsked': { to: '/files/plugins?sort=name' },
  'configuration/dialogClosed': undefined,

  'realtime/connected': undefined,
  'realtime/disconnected': undefined,
  'realtime/messageReceived': {
    id: 'CLIENT_FILE_SYNC',
    data: { event: 'sync_started', problem: 'No room.', hello: 'h' },
  },
  'realtime/sendRequested': { id: 'SERVER_HANDSHAKE_ACK', data: { helloResponse: 'h' } },

  'console/consoleOpened': { deployment: 'lobby', podName: 'lobby-0' },
  'console/consoleLeft': undefined,
  'console/attempted': undefined,
  'console/opened': undefined,
  'console/closed': 'jarMissing',
  'console/powerRequested': 'start',
  'console/instanceRevived': undefined,
  'console/stateReported': { deployment: 'lobby', podName: 'lobby-0', state: 'RUNNING' },
  'console/linesCleared': undefined,
  'console/commandSubmitted': 'setkey key',
  'console/commandSent': undefined,
  'console/commandRefused': undefined,
  'console/linesReceived': [
    { type: 'message', content: 'Done' },
    { type: 'error', content: 'Failed' },
    { type: 'system', content: 'Started' },
  ],

  'instance/killAsked': undefined,
  'instance/killAnswered': undefined,
  'instance/capsuleAsked': 1,
  'instance/commandsRecalled': ['setkey key'],
  'instance/autoScrollChosen': { on: false, position: { line: 1, offset: 2 } },
  'instance/autoScrollRecalled': true,
  'instance/scrolledAway': { line: 1, offset: 2 },
  'instance/bottomReached': undefined,
  'instance/paused': undefined,
  'instance/resumed': undefined,
  'instance/wrapToggled': undefined,
  'instance/searched': 'Done',
  'instance/foundShown': { occurrence: { line: 1, at: 2 }, position: { line: 1, offset: 2 } },
  'instance/textSelected': { anchor: { line: 1, column: 1 }, focus: { line: 1, column: 2 } },
  'instance/selectionEnded': undefined,

  'uploads/filesChosen': {
    batch: 'b1',
    files: [{ id: 'f1', name: 'notes.txt', directory: '/nfsshare/plugins', size: 1 }],
    directories: ['/nfsshare/plugins/more'],
  },
  'uploads/advanced': {
    at: 1,
    changes: [{ id: 'f1', sent: 1, status: 'failed', onConflict: 'refuse', problem: 'No room.' }],
  },
  'uploads/cancelled': 'f1',
  'uploads/allCancelled': undefined,
  'uploads/retried': 'f1',
  'uploads/forAllChosen': true,
  'uploads/conflictAnswered': { id: 'f1', answer: 'skip' },
  'uploads/panelToggled': undefined,
  'uploads/panelRested': undefined,
  'uploads/signOutAsked': undefined,
  'uploads/signOutDeclined': undefined,
  'uploads/cleared': undefined,
}

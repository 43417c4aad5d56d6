import { STATUS_CODES } from 'node:http'
import type { CreateDatabase, Database } from '../../../contract/database'
import type { Configuration, CreateDeployment, Deployment, Toggle } from '../../../contract/deployment'
import type { FileEntry, MoveFile, SaveFile, SeveralFiles } from '../../../contract/file'
import type { Instance } from '../../../contract/instance'

/** Values of parameters by their name. */
const parameters: Partial<Record<string, unknown>> = {
  name: 'lobby',
  deployment: 'lobby',
  type: 'sql',
  uid: '6f1c9a1e-4f0b-4a57-9c0e-0d6a5b1f2c3d',
  pod: '3fa9c1-lobby',
  path: '/nfsshare/lobby/server.properties',
  code: 'kQ3v9XbT',
}

const NOON = Date.UTC(2026, 0, 31, 12)

const deployment: Deployment = {
  name: 'lobby',
  typeIndex: 2,
  enabled: true,
  path: '/nfsshare/lobby',
  dataDirectory: '/lobby',
  description: 'Where players arrive',
}

const instance: Instance = {
  uid: '6f1c9a1e-4f0b-4a57-9c0e-0d6a5b1f2c3d',
  name: '3fa9c1-lobby',
  deployment: 'lobby',
  podName: '3fa9c1-lobby',
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

const database: Database = {
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

const CONTENT = 'name: lobby\ntype: scalable\ndataDirectory: /lobby\nrun:\n  jar: server.jar\n'

const entries: FileEntry[] = [
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

const severalFiles: SeveralFiles = { files: entries.map(({ path, name }) => ({ path, name })) }

/** Bodies of calls by their operation id. */
export const bodyExamples: Record<string, unknown> = {
  logIn: { username: 'steve', password: 'correct horse battery' },
  verifyLogIn: { username: 'steve', token: '123456', sessionToken: 'Zk1c0tQ8mX2vL9rKc4WnB' },
  verifyInvite: { inviteCode: 'kQ3v9XbT' },
  register: { username: 'steve', password: 'correct horse battery', inviteToken: 'Zk1c0tQ8mX2vL9rKc4WnB' },
  verifyRegistration: { username: 'steve', token: '123456', inviteToken: 'Zk1c0tQ8mX2vL9rKc4WnB' },
  changePassword: { password: 'correct horse battery', newPassword: 'staple battery horse', token: '123456' },
  createDeployment: { name: 'lobby', type: 'scalable' } satisfies CreateDeployment,
  saveConfiguration: { content: CONTENT, revision: '4' } satisfies Configuration,
  toggleDeployment: { enabled: true } satisfies Toggle,
  createDatabase: { name: 'lobby' } satisfies CreateDatabase,
  saveFile: {
    path: '/nfsshare/lobby/server.properties',
    content: 'motd=Welcome\n',
    modifyTime: NOON,
  } satisfies SaveFile,
  createFile: { path: '/nfsshare/lobby/whitelist.json', content: '' },
  createDirectory: { path: '/nfsshare/lobby/plugins' },
  moveFile: {
    sourcePath: '/nfsshare/lobby/world',
    targetPath: '/nfsshare/lobby/world-old',
  } satisfies MoveFile,
  createDownloadTicket: { path: '/nfsshare/lobby/server.properties' },
  downloadSeveral: severalFiles,
  archive: { path: '/nfsshare/lobby/world' },
  archiveSeveral: severalFiles,
  unarchive: { path: '/nfsshare/lobby/world.zip' },
  setAdministrator: { is_admin: true },
  setPassword: { password: 'staple battery horse' },
  createInviteCode: { message: 'For Alex' },
}

/** What `data` of the answers holds, by operation id. */
export const answerExamples: Record<string, object> = {
  logIn: { sessionToken: 'Zk1c0tQ8mX2vL9rKc4WnB' },
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
}

interface Operation {
  operationId?: string
  parameters?: { name: string; schema?: { type?: string }; example?: unknown }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses?: Record<string, { description: string; content?: Record<string, { example?: unknown }> }>
}

/** Adds the examples, and descriptions of successes, to a document. @returns the same document */
export function addExamples<Document extends object>(document: Document): Document {
  const { paths } = document as { paths?: Record<string, Record<string, Operation>> }
  for (const operation of Object.values(paths ?? {}).flatMap((path) => Object.values(path))) {
    const { operationId = '', requestBody, responses = {} } = operation
    for (const parameter of operation.parameters ?? []) {
      const example = parameters[parameter.name]
      if (example !== undefined && parameter.schema?.type !== 'integer') parameter.example = example
    }
    const sent = requestBody?.content['application/json']
    if (sent && bodyExamples[operationId] !== undefined) sent.example = bodyExamples[operationId]
    for (const [status, response] of Object.entries(responses)) {
      if (response.description === 'Default Response') response.description = STATUS_CODES[status] ?? ''
      const answered = response.content?.['application/json']
      if (status.startsWith('2') && answered && answerExamples[operationId])
        answered.example = { success: true, data: answerExamples[operationId] }
    }
  }
  return document
}

import { z } from 'zod'
import { CreateInviteCode, SetPassword } from '../../src/contract/admin'
import { Register, VerifyLogin } from '../../src/contract/signIn/auth'
import { ConsoleFrame, ConsoleRequest } from '../../src/contract/sockets/consoleChannel'
import { CreateDatabase } from '../../src/contract/database'
import { CreateDeployment, Deployment } from '../../src/contract/deployment'
import { DEPLOYMENT_TYPES } from '../../src/contract/pageRules'
import { errorStatus } from '../../src/contract/errors'
import { FilesResponse, SaveFile } from '../../src/contract/file'
import { Instance, InstancesResponse } from '../../src/contract/instance'
import { issueMessage } from '../../src/contract/issueMessage'
import { MetricResponse } from '../../src/contract/metric'
import { ClientBound, ServerBound } from '../../src/contract/sockets/realtime'

test('§3 the deployment types are listed in index order', () => {
  expect(DEPLOYMENT_TYPES).toEqual(['proxy', 'persistent', 'scalable', 'process'])
  const base = { name: 'a', enabled: true, path: '/nfsshare/a', dataDirectory: '/a' }
  expect(Deployment.safeParse({ ...base, typeIndex: 3 }).success).toBe(true)
  expect(Deployment.safeParse({ ...base, typeIndex: 4 }).success).toBe(false)
})

const instance = {
  uid: 'u',
  name: '0a1b2c-lobby',
  deployment: 'lobby',
  podName: 'lobby-0a1b2c',
  ip: '127.0.0.1',
  players: { u1: 'Steve' },
  state: 'RUNNING',
  type: 'minecraft',
  connections: 1,
  uptime: '3h 12m',
  cpu: 12.5,
  memory: { used: 0.5, total: 1 },
}

test('§3 an instance as sent by the platform is accepted, and an unknown state is rejected', () => {
  expect(InstancesResponse.parse({ success: true, data: { instances: [instance] } }).data.instances).toEqual([instance])
  expect(Instance.safeParse({ ...instance, state: 'PAUSED' }).success).toBe(false)
  expect(Instance.safeParse({ ...instance, cpu: 101 }).success).toBe(false)
})

test.each([
  ['a name with a dash', 'my-db'],
  ['65 characters', 'x'.repeat(65)],
  ['a blank name', ''],
  ['a quote', 'a"b'],
  ['a space', 'a b'],
])('§5 a database name with %s is rejected', (_case, name) => {
  expect(CreateDatabase.safeParse({ name }).success).toBe(false)
})

test('§5 a database name of 64 letters, digits and underscores is accepted', () => {
  expect(CreateDatabase.safeParse({ name: 'aZ_9'.repeat(16) }).success).toBe(true)
})

test('§5 the schemas report the exact messages of the specification', () => {
  expect(CreateInviteCode.safeParse({ message: '  ' }).error?.issues[0]?.message).toBe('Message cannot be empty')
  expect(CreateDatabase.safeParse({ name: 'a-b' }).error?.issues[0]?.message).toBe(
    'Database name can only contain letters, numbers, dashes, and underscores',
  )
})

test.each([['12345'], ['1234567'], ['12345a'], ['１２３４５６'], [' 12345']])(
  '§5 the verification code %j is rejected',
  (token) => {
    expect(VerifyLogin.safeParse({ username: 'a', sessionToken: 'x', token }).success).toBe(false)
  },
)

test('§9 a password has at least 8 characters, decisions §2: at most 128', () => {
  const lengths = [7, 8, 128, 129].map((length) => SetPassword.safeParse({ password: 'x'.repeat(length) }).success)
  expect(lengths).toEqual([false, true, true, false])
})

test('decisions §2: a username has 3 to 32 letters, digits and _ . -', () => {
  const accepted = (username: string) =>
    Register.safeParse({ username, password: 'long enough', inviteToken: 'x' }).success
  expect(['ab', 'abc', 'A.b_c-9', 'x'.repeat(32), 'x'.repeat(33), 'a b', 'añb', 'a\n'].map(accepted)).toEqual([
    false,
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})

test('§7 metrics, files and creation bodies are accepted as specified', () => {
  expect(MetricResponse.safeParse({ success: true, data: { data: [{ timestamp: 1, value: 2048 }] } }).success).toBe(
    true,
  )
  const entry = { name: 'a', path: '/nfsshare/a', type: 'd', size: 0, modifyTime: 1, isText: false }
  expect(FilesResponse.safeParse({ success: true, data: { files: [entry], deploymentTypeIndex: null } }).success).toBe(
    true,
  )
  expect(SaveFile.safeParse({ path: '/nfsshare/a', content: '' }).success).toBe(true)
  expect(CreateDeployment.safeParse({ name: 'world', type: 'persistent', node: 'node-a' }).success).toBe(true)
})

test.each([
  [z.number(), 'soon', 'must be a number'],
  [z.string(), undefined, 'is required'],
  [z.string(), 5, 'must be a text'],
  [z.boolean(), 'x', 'must be true or false'],
  [z.array(z.string()), 'x', 'must be a list'],
  [z.enum(['a', 'b', 'c']), 'x', 'must be a, b or c'],
  [z.number().int(), 1.5, 'must be a whole number'],
  [z.number().min(1), 0, 'must be at least 1'],
  [z.string().max(3), 'xxxx', 'must have at most 3 characters'],
  [z.array(z.string()).min(1), [], 'must have at least 1 entry'],
  [z.literal(''), 'x', 'must be empty'],
  [z.string().regex(/a/, 'must hold an a'), 'x', 'must hold an a'],
])('issueMessage describes an issue in plain words (%#)', (schema, value, text) => {
  const [issue] = schema.safeParse(value, { error: issueMessage }).error!.issues
  expect(issue!.message).toBe(text)
})

test('§7 the console schemas accept the frames and requests of the channel', () => {
  expect(ConsoleFrame.safeParse({ type: 'power', content: 'RUNNING' }).success).toBe(true)
  expect(ConsoleFrame.safeParse({ type: 'other', content: '' }).success).toBe(false)
  expect(ConsoleRequest.safeParse({ type: 'command', command: '' }).success).toBe(false)
  expect(ConsoleRequest.safeParse({ type: 'command', command: 'say \u{1f600}\n' }).success).toBe(true)
  expect(ConsoleRequest.safeParse({ type: 'command', command: 'say \ud800' }).success).toBe(false)
  expect(ConsoleRequest.safeParse({ type: 'power', action: 'restart' }).success).toBe(true)
})

test('decisions §6: the real-time schemas accept the messages of both directions', () => {
  expect(ClientBound.safeParse({ id: 'CLIENT_FILE_SYNC', data: { event: 'sync_started' } }).success).toBe(true)
  expect(ClientBound.safeParse({ id: 'CLIENT_FILE_SYNC', data: { event: 'other' } }).success).toBe(false)
  expect(ClientBound.safeParse({ data: {} }).success).toBe(false)
  expect(ServerBound.safeParse({ id: 'SERVER_HANDSHAKE_ACK', data: { helloResponse: 'x' } }).success).toBe(true)
})

test('decisions §1: every error code has its HTTP status', () => {
  expect(errorStatus).toMatchObject({
    INVALID_INPUT: 400,
    NO_SESSION: 401,
    NOT_ALLOWED: 403,
    NOT_FOUND: 404,
    NAME_TAKEN: 409,
    TOO_LARGE: 413,
    TOO_MANY_TRIES: 429,
    UNAVAILABLE: 503,
  })
})

import type { Deployment } from '../../../src/contract/deployment'
import type { Instance } from '../../../src/contract/instance'

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** A token as the platform makes them; nobody here checks the signature. `expiresAt` in milliseconds. */
export const tokenOf = (username: string, { id = username, expiresAt = Date.now() + 3_600_000 } = {}) =>
  `${encode({ alg: 'HS256' })}.${encode({ sub: username, jti: id, exp: Math.floor(expiresAt / 1000) })}.signature`

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

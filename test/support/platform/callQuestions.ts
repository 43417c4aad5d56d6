import { randomUUID } from 'node:crypto'
import { bodyExamples } from '../../../src/platform/http/openapi/bodyExamples'

/** A value that names something of other users, and one of the same length that names nothing. */
export type Pair = readonly [ofOthers: string, absent: string]
/** What a parameter or a field of a body names. */
export type Place =
  | 'deployment'
  | 'pod'
  | 'instance'
  | 'path'
  | 'user'
  | 'username'
  | 'session'
  | 'key'
  | 'job'
  | 'database'
  | 'invite'
  | 'method'
  | 'definition'
  | 'text'

/** A call of the OpenAPI document. */
export interface Operation {
  method: string
  url: string
  operationId: string
  parameters?: { name: string; in: 'path' | 'query' }[]
  requestBody?: object
}

/** One request, with one value of a pair in one of its places. */
export interface Question {
  method: string
  url: string
  body?: unknown
  headers?: Record<string, string>
}

/** The places of parameters, by the prefix of the path. The longest prefix that has the parameter counts. */
const PARAMETERS: Record<string, Record<string, Place>> = {
  '/api/': { path: 'path', deployment: 'deployment', pod: 'pod' },
  '/api/deployments': { name: 'deployment', uid: 'instance' },
  '/api/database': { name: 'database' },
  '/api/users': { id: 'user' },
  '/api/users/{id}/sessions': { id: 'user', of: 'session' },
  '/api/users/{id}/keys': { id: 'user', of: 'key' },
  '/api/sessions': { id: 'session' },
  '/api/keys': { id: 'key' },
  '/api/account/': { id: 'method' },
  '/api/invite-codes': { code: 'invite' },
  '/api/activity': { username: 'username', search: 'text' },
  '/api/sftp/jobs': { id: 'job' },
}
/** Parameters that name nothing that a user could have. `token` is that of a download, which has a test of its own. */
const NAMING_NOTHING = ['instances', 'type', 'token', 'kind', 'before', 'hours', 'except', 'revoke']
/** The parameters of these calls are values of the OpenID provider. */
const OF_PROVIDER = '/api/auth/oidc/'

/** The places of fields of bodies, by their name. */
const FIELDS: Record<string, Place> = {
  path: 'path',
  sourcePath: 'path',
  targetPath: 'path',
  deployment: 'deployment',
  deployments: 'deployment',
}
/** The same for fields of one call. */
const FIELDS_OF_CALL: Record<string, Record<string, Place>> = {
  saveConfiguration: { content: 'definition' },
  createDeployment: { name: 'deployment' },
  createDatabase: { name: 'database' },
  logIn: { username: 'username' },
}
/** Calls that create something at a path. That a name in a directory of the caller is taken cannot be kept secret. */
const CREATING = ['createFile', 'createDirectory', 'moveFile targetPath', 'saveFile']

export const OWN_DEFINITION = "name: own\ntype: process\ndataDirectory: /own\nrun:\n  command: [sleep, '600']\n"
const grants = [{ deployment: 'own', rights: ['view'] }]
export const ownFile = { path: '/nfsshare/own/own.txt', name: 'own.txt' }
/** Bodies that are accepted, because they name only what the caller has. */
const BODIES: Record<string, unknown> = {
  ...bodyExamples,
  logIn: { username: 'nobody', password: 'a wrong password' },
  createDeployment: { name: 'mine', type: 'process' },
  saveConfiguration: { content: OWN_DEFINITION },
  toggleDeployment: { enabled: false },
  createFile: { path: '/nfsshare/own/new.txt', content: '' },
  createDirectory: { path: '/nfsshare/own/new' },
  saveFile: { path: '/nfsshare/own/own.txt', content: 'changed' },
  moveFile: { sourcePath: '/nfsshare/own/own.txt', targetPath: '/nfsshare/own/moved.txt' },
  archive: { path: '/nfsshare/own/own.txt' },
  unarchive: { path: '/nfsshare/own/a.zip' },
  createDownloadTicket: { path: '/nfsshare/own/own.txt' },
  archiveSeveral: { files: [ownFile, { ...ownFile }] },
  downloadSeveral: { files: [ownFile, { ...ownFile }] },
  createKey: { name: 'mine', scopes: ['read'], deployments: ['own'] },
  setUserAccess: { role: 'limited', grants },
  createInviteCode: { message: 'for me', role: 'limited', grants },
}

function placeOf(url: string, name: string): Place | undefined {
  const prefixes = Object.keys(PARAMETERS).filter((prefix) => url.startsWith(prefix))
  for (const prefix of prefixes.sort((one, other) => other.length - one.length)) {
    const place = PARAMETERS[prefix]![name]
    if (place) return place
  }
  if (NAMING_NOTHING.includes(name) || url.startsWith(OF_PROVIDER)) return undefined
  throw new Error(`The parameter "${name}" of ${url} is unknown: add it to PARAMETERS or NAMING_NOTHING`)
}

/**
 * @param things of others, and absent ones, by the kind of their place
 * @param own what the caller has, for the other places of the call
 * @returns every question that the places of a call allow, each with a thing of others and with an absent one
 */
export function questionsOf(
  { operationId, method, url, parameters: declared = [] }: Operation,
  things: Record<Place, Pair[]>,
  own: Partial<Record<Place, string>>,
) {
  const found: { pair: Pair; questions: [Question, Question] }[] = []
  const urlWith = (changed?: string, value = '') => {
    let path = url
    const query: string[] = []
    for (const parameter of declared) {
      const place = placeOf(url, parameter.name)
      const text =
        parameter.name === changed ? value : place ? (own[place] ?? randomUUID()) : { type: 'sql' }[parameter.name]
      if (text === undefined) continue
      if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(text))
      else query.push(`${parameter.name}=${encodeURIComponent(text)}`)
    }
    return query.length > 0 ? `${path}?${query.join('&')}` : path
  }
  const body = BODIES[operationId]
  const methods = method === 'GET' && operationId !== 'download' ? ['GET', 'HEAD'] : [method]
  const add = (pair: Pair, ask: (value: string) => Omit<Question, 'method'>) => {
    for (const each of methods)
      found.push({
        pair,
        questions: [
          { method: each, ...ask(pair[0]) },
          { method: each, ...ask(pair[1]) },
        ],
      })
  }
  for (const { name } of declared) {
    const place = placeOf(url, name)
    if (place) for (const pair of things[place]) add(pair, (value) => ({ url: urlWith(name, value), body }))
  }
  for (const [at, place] of leavesOf(operationId, body))
    for (const pair of things[place]) {
      const creates = CREATING.includes(operationId) || CREATING.includes(`${operationId} ${at.join('.')}`)
      if (creates && pair[0].endsWith('/cellar')) continue
      add(pair, (value) => ({ url: urlWith(), body: replaced(body, at, value) }))
    }
  return found
}

/** The places of a body, each as the names and numbers that lead to it. */
function leavesOf(operationId: string, value: unknown, at: string[] = []): [string[], Place][] {
  if (typeof value === 'string') {
    const name = at.findLast((step) => Number.isNaN(Number(step))) ?? ''
    const place = FIELDS_OF_CALL[operationId]?.[name] ?? FIELDS[name]
    return place ? [[at, place]] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, below]) => leavesOf(operationId, below, [...at, name]))
}

function replaced(body: unknown, at: string[], value: string): unknown {
  const copy = structuredClone(body) as Record<string, unknown>
  let around = copy
  for (const step of at.slice(0, -1)) around = around[step] as Record<string, unknown>
  around[at.at(-1)!] = value
  return copy
}

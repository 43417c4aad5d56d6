import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { BSON, type Document } from 'mongodb'

const OP_REPLY = 1
const OP_QUERY = 2004
const OP_MSG = 2013
/** An error that the driver does not retry. */
const lost = { ok: 0, code: 8, errmsg: 'cut off' }

/** The content of the server: users and roles as `db.name`, collections by database. */
interface Content {
  users: Map<string, { pwd: string; roles: { role: string; db: string }[] }>
  roles: Map<string, { role: string; db: string }[]>
  databases: Map<string, string[]>
}

export interface ImitatedMongo extends Content {
  url: string
  /** Names of the commands that changed something, in order. */
  changes: string[]
  /** Executes this number of further commands; the last response is lost, and all others fail until `mend`. */
  breakAfter(commands: number): void
  isBroken: () => boolean
  mend(): void
  /** Names of commands that get no response. */
  unanswered: Set<string>
  /** The number of open connections. */
  connections: () => number
  close(): Promise<void>
}

/**
 * The user and role commands of a MongoDB server over its wire protocol, following the manual, for machines without
 * one. Does not check passwords.
 */
export async function imitateMongo(): Promise<ImitatedMongo> {
  const content: Content = {
    users: new Map(),
    roles: new Map(),
    databases: new Map([
      ['admin', []],
      ['local', []],
    ]),
  }
  const changes: string[] = []
  const unanswered = new Set<string>()
  const sockets = new Set<Socket>()
  let left = Infinity
  let broken = false

  function answer(socket: Socket, message: Buffer): void {
    const [id, opcode] = [message.readInt32LE(4), message.readInt32LE(12)]
    if (opcode === OP_QUERY) return void socket.write(reply(id, { ...hello() }))
    const command = BSON.deserialize(message.subarray(21))
    if (unanswered.has(Object.keys(command)[0]!)) return
    const result = Object.keys(command)[0]!.toLowerCase() === 'hello' ? hello() : run(command)
    socket.write(respond(id, result))
  }

  function run(command: Document): Document {
    const [name = ''] = Object.keys(command)
    if (['ping', 'endSessions'].includes(name)) return { ok: 1 }
    if (broken) return lost
    const result = carryOut(content, name, command)
    if (/^(?:create|drop|kill|update)/.test(name)) changes.push(name)
    if (--left > 0) return result
    broken = true
    return lost
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    let pending = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 4 && pending.length >= pending.readInt32LE(0)) {
        const length = pending.readInt32LE(0)
        answer(socket, pending.subarray(0, length))
        pending = pending.subarray(length)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    ...content,
    changes,
    unanswered,
    url: `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    breakAfter: (commands) => (left = commands),
    isBroken: () => broken,
    connections: () => sockets.size,
    mend() {
      broken = false
      left = Infinity
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function carryOut({ users, roles, databases }: Content, name: string, command: Document): Document {
  const db = String(command.$db)
  const key = `${db}.${String(command[name])}`
  const fail = (code: number) => ({ ok: 0, code, errmsg: `refused with ${code}` })
  switch (name) {
    case 'buildInfo':
      return { version: '7.0.14', ok: 1 }
    case 'listDatabases':
      return {
        databases: [...databases].map(([database, collections]) => ({
          name: database,
          sizeOnDisk: 4096 * collections.length,
        })),
        ok: 1,
      }
    case 'listCollections':
      return {
        cursor: {
          id: 0n,
          ns: `${db}.$cmd.listCollections`,
          firstBatch: (databases.get(db) ?? []).map((collection) => ({ name: collection, type: 'collection' })),
        },
        ok: 1,
      }
    case 'usersInfo':
      return { users: [...users.keys()].filter((user) => user.startsWith(`${db}.`)).map((_id) => ({ _id })), ok: 1 }
    case 'rolesInfo': {
      const { role, db: of } = command.rolesInfo as { role: string; db: string }
      return { roles: roles.has(`${of}.${role}`) ? [{ role, db: of }] : [], ok: 1 }
    }
    case 'createRole':
      if (roles.has(key)) return fail(51_002)
      roles.set(key, command.roles as { role: string; db: string }[])
      return { ok: 1 }
    case 'createUser': {
      const granted = command.roles as { role: string; db: string }[]
      if (users.has(key)) return fail(51_003)
      if (!granted.every(({ role, db: of }) => roles.has(`${of}.${role}`))) return fail(31)
      users.set(key, { pwd: String(command.pwd), roles: granted })
      return { ok: 1 }
    }
    case 'dropUser':
      return users.delete(key) ? { ok: 1 } : fail(11)
    case 'dropRole':
      return roles.delete(key) ? { ok: 1 } : fail(31)
    case 'dropDatabase':
      databases.delete(db)
      return { ok: 1 }
    case 'killAllSessions':
      return db === 'admin' ? { ok: 1 } : fail(13)
    default:
      return fail(59)
  }
}

function hello(): Document {
  return {
    isWritablePrimary: true,
    helloOk: true,
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    logicalSessionTimeoutMinutes: 30,
    minWireVersion: 0,
    maxWireVersion: 21,
    ok: 1,
  }
}

function header(length: number, to: number, opcode: number): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeInt32LE(length, 0)
  bytes.writeInt32LE(to, 8)
  bytes.writeInt32LE(opcode, 12)
  return bytes
}

function respond(to: number, document: Document): Buffer {
  const body = BSON.serialize(document)
  return Buffer.concat([header(21 + body.length, to, OP_MSG), Buffer.alloc(5), body])
}

function reply(to: number, document: Document): Buffer {
  const body = BSON.serialize(document)
  const fields = Buffer.alloc(20)
  fields.writeInt32LE(1, 16)
  return Buffer.concat([header(36 + body.length, to, OP_REPLY), fields, body])
}

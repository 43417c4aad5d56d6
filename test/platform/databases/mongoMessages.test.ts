import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { BSON, Binary, type Document } from 'mongodb'
import { openMongoClient } from '../../../src/platform/databases/mongo/mongoClient'

const OP_REPLY = 1
const OP_QUERY = 2004
const OP_MSG = 2013
const HELLO = { ok: 1, isWritablePrimary: true, maxWireVersion: 25, minWireVersion: 0, readOnly: false }

let server: Server
let sockets: Socket[]

/** Runs a fake MongoDB server. @param answer gets each command, and returns an answer or raw bytes */
async function pretend(answer: (command: Document) => Document | Buffer): Promise<string> {
  sockets = []
  server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    let pending = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 4 && pending.length >= pending.readInt32LE(0)) {
        const message = pending.subarray(0, pending.readInt32LE(0))
        pending = pending.subarray(message.length)
        socket.write(reply(message, answer))
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

function reply(message: Buffer, answer: (command: Document) => Document | Buffer): Buffer {
  const opcode = message.readInt32LE(12)
  const end = opcode === OP_QUERY ? message.indexOf(0, 20) + 9 : 21
  const result = answer(BSON.deserialize(message.subarray(end), { promoteBuffers: false }))
  if (Buffer.isBuffer(result)) return result
  const body = Buffer.from(BSON.serialize(result))
  const before = Buffer.alloc(opcode === OP_QUERY ? 36 : 21)
  before.writeInt32LE(before.length + body.length, 0)
  before.writeInt32LE(message.readInt32LE(4), 8)
  before.writeInt32LE(opcode === OP_QUERY ? OP_REPLY : OP_MSG, 12)
  if (opcode === OP_QUERY) before.writeInt32LE(1, 32)
  return Buffer.concat([before, body])
}

function header(length: number): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeInt32LE(length, 0)
  return bytes
}

async function ping(url: string): Promise<Document> {
  const client = await openMongoClient(url)
  try {
    return await client.db('admin').command({ ping: 1 })
  } finally {
    await client.close()
  }
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

test.each([0, 4, 15, -1, 48_000_001, 0x7fffffff])(
  'a server that answers with a message of %d bytes counts as unreachable',
  async (length) => {
    const host = await pretend(() => header(length))
    await expect(ping(`mongodb://${host}/`)).rejects.toThrow(`a message of ${length} bytes`)
  },
)

test.each([0, 0x7fffffff])('a message of %d bytes in the middle of a session fails the call', async (length) => {
  const host = await pretend((command) => ('ping' in command ? header(length) : HELLO))
  await expect(ping(`mongodb://${host}/`)).rejects.toThrow()
})

test('a server that asks for billions of SCRAM iterations is refused at once', async () => {
  const host = await pretend((command) => {
    const { payload } = command as { payload?: Binary }
    if (!payload) return { ...HELLO, saslSupportedMechs: ['SCRAM-SHA-256'] }
    const nonce = /r=([^,]+)/.exec(Buffer.from(payload.buffer).toString())![1]!
    const challenge = `r=${nonce}server,s=${Buffer.alloc(16).toString('base64')},i=2000000000`
    return { ok: 1, conversationId: 1, done: false, payload: new Binary(Buffer.from(challenge)) }
  })
  await expect(ping(`mongodb://ann:pw@${host}/?authMechanism=SCRAM-SHA-256`)).rejects.toThrow(
    '2000000000 SCRAM iterations',
  )
})

test('a server that sends valid messages is accepted', async () => {
  const host = await pretend((command) => ('ping' in command ? { ok: 1 } : HELLO))
  expect(await ping(`mongodb://${host}/`)).toMatchObject({ ok: 1 })
})

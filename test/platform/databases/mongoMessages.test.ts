import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { deflateSync } from 'node:zlib'
import { BSON, Binary, type Document } from 'mongodb'
import { openMongoClient } from '../../../src/platform/databases/mongo/mongoClient'

const OP_REPLY = 1
const OP_QUERY = 2004
const OP_COMPRESSED = 2012
const OP_MSG = 2013
const SALT = Buffer.alloc(16).toString('base64')
const HELLO = { ok: 1, isWritablePrimary: true, maxWireVersion: 25, minWireVersion: 0, readOnly: false }

let server: Server
let sockets: Socket[]

/** Runs a fake MongoDB server. @param answer gets each command, and returns a response or raw bytes */
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

/** Challenges that the driver accepts, by what is unusual in them. */
const challenges: [string, (nonce: string) => string][] = [
  ['', (nonce) => `r=${nonce},s=${SALT},i=2000000000`],
  [' before its other fields', (nonce) => `i=2000000000,r=${nonce},s=${SALT}`],
  [' after a long nonce', (nonce) => `r=${nonce}${'x'.repeat(2000)},s=${SALT},i=2000000000`],
  [' after many kilobytes', (nonce) => `r=${nonce},s=${SALT},m=${'x'.repeat(10_000)},i=2000000000`],
  [' after a space', (nonce) => `r=${nonce},s=${SALT},i= 2000000000`],
  [' with a sign', (nonce) => `r=${nonce},s=${SALT},i=+2000000000`],
  [' twice', (nonce) => `r=${nonce},s=${SALT},i=15000,i=2000000000`],
]

describe.each(challenges)(
  'security 223: a server that asks for billions of SCRAM iterations%s',
  (_case, challengeOf) => {
    const answerTo = (payload: Binary) => {
      const nonce = /r=([^,]+)/.exec(Buffer.from(payload.buffer).toString())![1]!
      return { conversationId: 1, done: false, payload: new Binary(Buffer.from(challengeOf(nonce))) }
    }

    test('in its response to a sign-in is refused at once', async () => {
      const host = await pretend(({ payload }) =>
        payload instanceof Binary
          ? { ok: 1, ...answerTo(payload) }
          : { ...HELLO, saslSupportedMechs: ['SCRAM-SHA-256'] },
      )
      await expect(ping(`mongodb://ann:pw@${host}/?authMechanism=SCRAM-SHA-256`)).rejects.toThrow(
        '2000000000 SCRAM iterations',
      )
    })

    test('in its first message is refused at once', async () => {
      const host = await pretend(({ speculativeAuthenticate }) => {
        const { payload } = (speculativeAuthenticate ?? {}) as { payload?: Binary }
        return { ...HELLO, ...(payload && { speculativeAuthenticate: answerTo(payload) }) }
      })
      await expect(ping(`mongodb://ann:pw@${host}/`)).rejects.toThrow('2000000000 SCRAM iterations')
    })
  },
)

test('security 223: a compressed message is refused before it is inflated', async () => {
  const host = await pretend((command) => {
    if (!('ping' in command)) return HELLO
    const inflated = BSON.serialize({ ok: 1, padding: 'x'.repeat(1000) })
    const body = deflateSync(Buffer.concat([Buffer.alloc(5), inflated]))
    const message = Buffer.concat([header(25 + body.length), Buffer.alloc(9), body])
    message.writeInt32LE(OP_COMPRESSED, 12)
    message.writeInt32LE(OP_MSG, 16)
    message.writeInt32LE(5 + inflated.length, 20)
    message.writeUInt8(2, 24)
    return message
  })
  await expect(ping(`mongodb://${host}/`)).rejects.toThrow('sent a compressed message')
})

test('security 223: no compression is agreed with a server that offers it, even if the URL asks for it', async () => {
  // A compressed request could not be parsed here.
  const host = await pretend((command) => ('ping' in command ? { ok: 1 } : { ...HELLO, compression: ['zlib'] }))
  expect(await ping(`mongodb://${host}/?compressors=zlib`)).toMatchObject({ ok: 1 })
})

test('a server that sends valid messages is accepted', async () => {
  const host = await pretend((command) => ('ping' in command ? { ok: 1 } : HELLO))
  expect(await ping(`mongodb://${host}/`)).toMatchObject({ ok: 1 })
})

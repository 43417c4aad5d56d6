import { createHash } from 'node:crypto'
import { createConnection } from 'node:net'
import { z } from 'zod'

/** In bytes. A status holds at most 32,767 characters (Minecraft protocol, String): 96 KiB in UTF-8, more with mods. */
const RESPONSE_LIMIT = 256 * 1024
/** Further names are dropped. Vanilla servers send a sample of 12. */
const NAMES_LIMIT = 200

export interface Players {
  count: number
  /** Player names by uuid. Servers may send fewer than `count`. */
  names: Record<string, string>
}

/** Includes the names that mods and proxies produce. */
const PlayerName = z.string().regex(/^[\w .*-]{1,40}$/)
const Sample = z.object({ name: PlayerName, id: z.guid().optional().catch(undefined) })
const Status = z.object({
  players: z.object({ online: z.number().int().nonnegative(), sample: z.array(z.unknown()).catch([]) }),
})

/**
 * Requests the players of a Minecraft server by the server list ping. The server runs a user's program, so its response
 * is validated and limited in size.
 * @param timeoutMs for the whole exchange
 * @returns undefined without a valid response
 */
export async function serverListPing(host: string, port: number, timeoutMs: number): Promise<Players | undefined> {
  const text = await exchange(host, port, timeoutMs)
  const { data } = Status.safeParse(parseJson(text ?? ''))
  if (!data) return undefined
  const { online, sample } = data.players
  const names = sample.slice(0, NAMES_LIMIT).flatMap((entry) => {
    const { data: player } = Sample.safeParse(entry)
    return player ? [[player.id ?? offlineUuid(player.name), player.name]] : []
  })
  return { count: online, names: Object.fromEntries(names) as Record<string, string> }
}

/** @returns the JSON text of the status response */
function exchange(host: string, port: number, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port })
    const end = (text?: string) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text)
    }
    const timer = setTimeout(end, timeoutMs)
    let received = Buffer.alloc(0)
    socket.on('error', () => end())
    socket.on('close', () => end())
    socket.on('connect', () => socket.write(Buffer.concat([handshake(host, port), packet(Buffer.of(STATUS_REQUEST))])))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const response = readResponse(received)
      if (response === 'incomplete' && received.length <= RESPONSE_LIMIT) return
      end(typeof response === 'object' ? response.text : undefined)
    })
  })
}

const HANDSHAKE = 0
const STATUS_REQUEST = 0
const NEXT_STATE_STATUS = 1
/** Clients that only query the status send -1. */
const PROTOCOL_VERSION = -1

function handshake(host: string, port: number): Buffer {
  const address = Buffer.from(host)
  return packet(
    Buffer.concat([
      Buffer.of(HANDSHAKE),
      varint(PROTOCOL_VERSION),
      varint(address.length),
      address,
      Buffer.of(port >> 8, port & 0xff, NEXT_STATE_STATUS),
    ]),
  )
}

const packet = (body: Buffer) => Buffer.concat([varint(body.length), body])

/** Layout: packet length, packet id 0, text length, text. */
function readResponse(bytes: Buffer): { text: string } | 'incomplete' | 'invalid' {
  const length = readVarint(bytes, 0)
  if (typeof length === 'string') return length
  if (length.value < 0 || length.value > RESPONSE_LIMIT) return 'invalid'
  const end = length.end + length.value
  if (bytes.length < end) return 'incomplete'
  const id = readVarint(bytes, length.end)
  const textLength = typeof id === 'string' ? id : readVarint(bytes, id.end)
  if (typeof id === 'string' || typeof textLength === 'string' || id.value !== 0) return 'invalid'
  return { text: bytes.toString('utf8', textLength.end, Math.min(end, textLength.end + Math.max(0, textLength.value))) }
}

/** Encodes a VarInt of the Minecraft protocol: signed 32 bits, seven bits a byte, lowest first. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value >>> 0
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.of(...bytes, rest)
}

function readVarint(bytes: Buffer, from: number): { value: number; end: number } | 'incomplete' | 'invalid' {
  let value = 0
  for (let at = 0; at < 5; at++) {
    const byte = bytes[from + at]
    if (byte === undefined) return 'incomplete'
    value |= (byte & 0x7f) << (7 * at)
    if ((byte & 0x80) === 0) return { value, end: from + at + 1 }
  }
  return 'invalid'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The uuid of a name on a server in offline mode (version 3 of RFC 9562 over "OfflinePlayer:<name>"). */
function offlineUuid(name: string): string {
  const bytes = createHash('md5').update(`OfflinePlayer:${name}`).digest()
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x30, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

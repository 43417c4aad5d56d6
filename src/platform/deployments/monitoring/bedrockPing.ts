import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'

/** Bytes that mark messages without a connection (RakNet, offline message ID). */
const MAGIC = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex')
/** Unconnected ping: its ID, a time, the magic bytes and the ID of the client. */
const PING = Buffer.concat([Buffer.of(0x01), Buffer.alloc(8), MAGIC, Buffer.alloc(8)])
const PONG_ID = 0x1c
/** In a pong, after the message ID, the time and the ID of the server. */
const MAGIC_AT = 17
const TEXT_LENGTH_AT = MAGIC_AT + MAGIC.length
const TEXT_AT = TEXT_LENGTH_AT + 2
/** In the text: edition, name, protocol, version, players, … */
const PLAYERS_FIELD = 4

/**
 * Requests the number of players of a Minecraft server of the Bedrock Edition. The server runs a user's program: only
 * its first datagram is read.
 * @param timeoutMs for the whole exchange
 * @returns undefined without a valid response
 */
export function bedrockPing(host: string, port: number, timeoutMs: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    // Connected, so that the kernel drops datagrams of others and reports a port on which nobody listens.
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    let isEnded = false
    const end = (players?: number) => {
      if (isEnded) return
      isEnded = true
      clearTimeout(timer)
      socket.close()
      resolve(players)
    }
    const timer = setTimeout(end, timeoutMs)
    socket.on('error', () => end())
    socket.on('message', (message) => end(playersIn(message)))
    socket.on('connect', () => socket.send(PING))
    socket.connect(port, host)
  })
}

function playersIn(pong: Buffer): number | undefined {
  if (pong.length < TEXT_AT || pong[0] !== PONG_ID || !pong.subarray(MAGIC_AT, TEXT_LENGTH_AT).equals(MAGIC))
    return undefined
  const end = TEXT_AT + pong.readUInt16BE(TEXT_LENGTH_AT)
  const players = pong.toString('utf8', TEXT_AT, end).split(';')[PLAYERS_FIELD] ?? ''
  return /^\d{1,9}$/.test(players) ? Number(players) : undefined
}

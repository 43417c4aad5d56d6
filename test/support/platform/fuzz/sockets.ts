import { ConsoleRequest } from '../../../../src/contract/sockets/consoleChannel'
import { ServerBound } from '../../../../src/contract/sockets/realtime'
import { mutate, type Random } from './random'
import { anyJson, anyText, valueOf } from './values'

/**
 * The content of a message to the console channel. Never a power request, because a stopped instance accepts no
 * command.
 */
export function consoleMessage(random: Random): string | Buffer {
  const command = { type: 'command', command: anyText(random) }
  const kind = random.next()
  if (kind < 0.4) return JSON.stringify(command)
  if (kind < 0.6) return withoutPower(JSON.stringify(valueOf(random, ConsoleRequest)))
  if (kind < 0.7) return withoutPower(JSON.stringify(anyJson(random)) ?? '')
  if (kind < 0.9) return mutate(random, Buffer.from(JSON.stringify(command)))
  return random.bytes(random.int(300))
}

const withoutPower = (text: string) => text.replaceAll(/"(?:stop|kill|restart|start)"/g, '"burn"')

/** A packet of Engine.IO that contains one of socket.io (protocol versions 4 and 5), or nearly. */
export function realtimePacket(random: Random): string | Buffer {
  const kind = random.next()
  const message = JSON.stringify(['message', random.chance(0.5) ? valueOf(random, ServerBound) : anyJson(random)])
  if (kind < 0.3) return `42${message}`
  const packet = `${random.int(8)}${random.int(8)}${random.pick(['', '', '1-', '51-', '-1-', '99999999999-', '/x,', '/admin,', '0', '999999999999'])}${random.pick([message, '', '{}', '{"token":1}', '["disconnect"]', '["message",{"_placeholder":true,"num":9}]'])}`
  if (kind < 0.7) return packet
  if (kind < 0.9) return mutate(random, Buffer.from(packet)).toString('latin1')
  return random.bytes(random.int(300))
}

/**
 * A frame of RFC 6455 as a client sends it, or an invalid one: reserved bits and opcodes, wrong lengths, control frames
 * that are too long.
 */
export function rawFrame(random: Random): Buffer {
  const payload = random.bytes(random.pick([0, 1, 5, 125, 126, 300]))
  const first = random.chance(0.5) ? 0x81 : random.int(256)
  const mask = random.chance(0.9) ? 0x80 : 0
  const length = random.chance(0.8) ? payload.length : random.pick([126, 127, 0, payload.length + 50])
  const extended = Buffer.alloc(
    length === 127 ? 8 : length >= 126 ? 2 : 0,
    length === 127 ? random.pick([0, 0x7f, 0xff]) : 0,
  )
  if (length > 127) extended.writeUInt16BE(length)
  return Buffer.concat([
    Buffer.from([first, mask | Math.min(length, length > 127 ? 126 : length)]),
    extended,
    Buffer.alloc(mask ? 4 : 0),
    payload,
  ])
}

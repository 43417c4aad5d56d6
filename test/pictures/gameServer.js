/**
 * What the instances of the sample network run. Answers the server list ping with the players of PLAYERS (names with
 * commas between them), prints what such a server prints, and uses about LOAD percent of a core.
 * https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping
 */
const { createServer } = require('node:net')
const { createInterface } = require('node:readline')

const { PORT, PLAYERS = '', LOAD = '1', MEMORY = '0', CRASHES } = process.env
const kind = process.env.QUARTERDECK_DEPLOYMENT ?? 'server'
const players = PLAYERS.split(',').filter(Boolean)
const log = (text, thread = 'Server thread') =>
  console.log(`[${new Date().toISOString().slice(11, 19)}] [${thread}/INFO]: ${text}`)

const varint = (value) => (value > 0x7f ? [(value & 0x7f) | 0x80, ...varint(value >>> 7)] : [value])
const idOf = (index) => `5627dd98-e6be-3c21-b8a8-${String(index).padStart(12, '0')}`
const sample = players.map((name, index) => ({ name, id: idOf(index) }))
const status = Buffer.from(JSON.stringify({ players: { max: 50, online: players.length, sample } }))
const body = Buffer.from([0, ...varint(status.length), ...status])
const answer = Buffer.from([...varint(body.length), ...body])

const keptMemory = Buffer.alloc(Number(MEMORY) * 2 ** 20, 1)
const startedAt = Date.now()
log(`Starting Minecraft server on *:${PORT}`)
log(`Preparing level "${kind}"`)
if (CRASHES)
  setTimeout(() => {
    console.error('java.net.ConnectException: Connection refused: database.internal/10.0.0.12:5432')
    console.error('    at com.example.network.Storage.open(Storage.java:118)')
    process.exit(1)
  }, 300)
if (PORT)
  createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () => socket.write(answer))
  }).listen(Number(PORT))
log(`Done (1.${kind.length}32s)! For help, type "help"`)
players.forEach((name, index) =>
  log(`${name}[/10.4.${index}.7:52${index}44] logged in with entity id ${211 + index} at (${index * 40}.5, 64.0, 8.5)`),
)

const chat = ['anyone up for a round?', 'brb', 'nice build!', 'where is the market?', 'gg', 'who has spare oak?']
let said = 0
setInterval(() => {
  if (players.length > 0)
    log(`<${players[said % players.length]}> ${chat[said % chat.length]}`, 'Async Chat Thread - #0')
  else log(`Saved the world (${keptMemory.length >> 20} MB of chunks)`)
  said += 1
}, 2500)
setInterval(() => {
  const busyMs = Number(LOAD) * 2 * (0.6 + 0.4 * Math.sin((Date.now() - startedAt) / 40_000))
  const end = Date.now() + busyMs
  while (Date.now() < end);
}, 200)

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'stop') {
    log('Stopping the server')
    process.exit(0)
  }
  if (line === 'list') log(`There are ${players.length} of a max of 50 players online: ${players.join(', ')}`)
  else if (line.startsWith('say ')) log(`[Server] ${line.slice(4)}`)
  else log('Unknown command. Type "help" for help.')
})

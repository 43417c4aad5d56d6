/**
 * A server that speaks the Minecraft protocol on the given port, of HOST if that is set. With ONLINE it reports that
 * number of players without a sample.
 */
export const GAME_SERVER = `
const minecraft = require('minecraft-protocol')
const server = minecraft.createServer({
  'online-mode': false, host: process.env.HOST ?? '127.0.0.1', port: Number(process.env.PORT), version: '1.20.4',
  beforePing(response) {
    const clients = Object.values(server.clients).filter(({ username }) => username)
    if (process.env.ONLINE) return void (response.players = { max: 7, online: Number(process.env.ONLINE) })
    response.players = { max: 20, online: clients.length, sample: clients.map(({ username, uuid }) => ({ name: username, id: uuid })) }
  },
})
server.on('listening', () => console.log('Done (1.0s)!'))
server.on('playerJoin', (client) => console.log(client.username + ' joined the game'))
server.on('error', (error) => console.error(error.message))
`

/** A player who joins the server and stays. */
export const PLAYER = `
const client = require('minecraft-protocol').createClient({ host: process.env.HOST ?? '127.0.0.1', port: Number(process.env.PORT), username: 'Steve', version: '1.20.4', auth: 'offline' })
client.on('error', () => undefined)
client.on('end', () => process.exit(0))
`

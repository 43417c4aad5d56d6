import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { DeploymentType } from '../../../../src/contract/deployment'
import { modules as gameServerModules } from '../../../support/gameServerPackage'
import type { TestCluster } from '../../../support/platform/cluster'
import { GAME_SERVER, PLAYER } from '../../../support/platform/gameServer'
import { createPanelClient, type ConsoleViewer } from '../../../support/platform/inCluster/panelClient'
import { until } from '../../../support/platform/until'
import { startClusterNetwork, type ClusterNetwork } from './clusterNetwork'

/** A game server that obeys its console, and whose world is a letter for each start and each orderly end. */
const PROGRAM = `${GAME_SERVER}
const fs = require('node:fs')
fs.appendFileSync('world.txt', 'r')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  console.log('heard ' + line)
  if (line === 'crash') process.exit(3)
  if (line === 'evacuate') for (const client of Object.values(server.clients)) client.end('moved')
  if (line !== 'stop') return
  fs.appendFileSync('world.txt', 's')
  console.log('Saved the world')
  process.exit(0)
})`

const SERVER = `run:
  command: [node, main.js]
  env: { HOST: 0.0.0.0, NODE_PATH: /nfsshare/modules }
  port: 25565
mounts: [/modules]
stop: { command: stop, timeoutSeconds: 20 }
ready: 'Done \\('
`
const DRAIN = 'drain: { command: evacuate, timeoutSeconds: 120 }\n'

/** A deployment of each type, by its name. */
const GAMES: Record<string, { type: DeploymentType; settings: string; world: string | undefined }> = {
  // Instances of these two have copies of their files. What one writes is gone with it, unless it is to be kept.
  entrance: { type: 'proxy', settings: SERVER + DRAIN, world: undefined },
  lobby: { type: 'scalable', settings: `${SERVER}${DRAIN}keep: [world.txt]\n`, world: 'rsrsrsrs' },
  // A crash has no orderly end.
  survival: { type: 'persistent', settings: SERVER + DRAIN, world: 'rrsrsrsrs' },
  // Without players, so without a drain.
  bot: { type: 'process', settings: SERVER, world: 'rrsrsrs' },
}
const NAMES = Object.keys(GAMES)
const hasPlayers = (name: string) => GAMES[name]?.type !== 'process'

/** How often it has been stopped at the end: by a restart, by the end of a drain, by a stop. */
const stopsOf = (name: string) => (hasPlayers(name) ? 3 : 2)

/** Does the same with each deployment at once. */
const each = (work: (name: string) => Promise<unknown>, names = NAMES) => Promise.all(names.map(work))

/** A real game server of each type of deployment in a Pod of its own, used by its console as operators do. */
export function gamesOnCluster(cluster: () => TestCluster): void {
  let network: ClusterNetwork
  const viewers = new Map<string, ConsoleViewer>()
  const players = new Map<string, () => Promise<void>>()
  const modules = gameServerModules() ?? ''

  const viewerOf = (name: string) => viewers.get(name)!
  const prints = (name: string, text: RegExp, times = 1) =>
    until(
      () => viewerOf(name).lines,
      (lines) => lines.filter((line) => text.test(line)).length >= times,
    )
  const startOf = async (name: string) => (await network.reaches(name, 'RUNNING')).startedAt
  const runsAgain = (name: string, before: number | undefined) =>
    network.reaches(name, 'RUNNING', ({ startedAt }) => startedAt !== before)

  /** A player who joins the game server of a deployment, and stays. */
  async function joinGame(name: string): Promise<void> {
    const { ip } = await network.reaches(name, 'RUNNING')
    const player = spawn('node', ['-e', PLAYER], {
      env: { PATH: process.env.PATH, NODE_PATH: modules, HOST: ip, PORT: '25565' },
      stdio: 'ignore',
    })
    const left = once(player, 'exit')
    players.set(name, async () => {
      player.kill()
      await left
    })
  }

  beforeAll(async () => {
    network = await startClusterNetwork(cluster(), 'games-of-each-type')
    // Most of it is the data of another edition.
    const filter = (path: string) => !/\/data\/bedrock\/(?!common)/.test(path)
    await cp(modules, join(network.shareDir, 'modules'), { recursive: true, filter })
    for (const { app } of [network.first, network.second]) await app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(async () => {
    for (const viewer of viewers.values()) viewer.close()
    for (const leave of players.values()) await leave()
    await network?.close()
  })

  test('a game server of each type reaches RUNNING in a Pod, and is asked for its players at the Pod’s address', async () => {
    await each((name) => network.deploy(name, GAMES[name]!.type, GAMES[name]!.settings, { 'main.js': PROGRAM }))
    await network.deploy('broken', 'process', 'run: { command: [node, main.js] }\n', { 'main.js': PROGRAM })
    await each(async (name) => {
      const {
        ip,
        type,
        players: names,
      } = await network.reaches(
        name,
        'RUNNING',
        ({ playerCount }) => playerCount === (hasPlayers(name) ? 0 : undefined),
      )
      expect(ip).toMatch(/^198\.51\.100\./)
      expect([type, names]).toEqual(hasPlayers(name) ? ['minecraft', {}] : ['process', undefined])
    })
  })

  test('the console of each server executes commands, on either replica', async () => {
    await each(async (name) => {
      const { podName } = await network.reaches(name, 'RUNNING')
      for (const { app } of [network.first, network.second]) {
        const { port } = app.server.address() as AddressInfo
        const panel = createPanelClient(`127.0.0.1:${port}`, { session: { token: network.admin.token } })
        viewers.get(name)?.close()
        viewers.set(name, await panel.openConsole(name, podName))
        await prints(name, /^Done \(1\.0s\)!$/)
        viewerOf(name).type(`say by port ${port}`)
        await prints(name, new RegExp(`^heard say by port ${port}$`))
      }
    })
  })

  test('players who join and leave are counted and named', async () => {
    await each(async (name) => {
      await joinGame(name)
      await prints(name, /^Steve joined the game$/)
      if (!hasPlayers(name)) return
      const { players: names } = await network.reaches(name, 'RUNNING', ({ playerCount }) => playerCount === 1)
      expect(Object.values(names ?? {})).toEqual(['Steve'])
      await players.get(name)!()
      await network.reaches(name, 'RUNNING', ({ playerCount }) => playerCount === 0)
    })
  })

  test('the CPU and memory of each server are measured', async () => {
    await each((name) => network.reaches(name, 'RUNNING', ({ memory }) => memory.used > 0))
  })

  test('each server is started again after a crash, and its console continues', async () => {
    await each(async (name) => {
      const before = await startOf(name)
      viewerOf(name).type('crash')
      await prints(name, /^\[System\] Ended by itself with exit code 3\.$/)
      expect((await runsAgain(name, before)).lastExit).toMatchObject({ code: 3 })
      await prints(name, /^Done/, 2)
    })
  })

  test('a restart stops each server by its stop command and starts it again', async () => {
    await each(async (name) => {
      const before = await startOf(name)
      viewerOf(name).power('restart')
      await prints(name, /^Saved the world$/)
      await runsAgain(name, before)
    })
  })

  test('decisions §14: a drain stops each server when its players have left', async () => {
    await each(async (name) => {
      await joinGame(name)
      const { startedAt } = await network.reaches(name, 'RUNNING', ({ playerCount }) => playerCount === 1)
      viewerOf(name).power('drainAndRestart')
      await prints(name, /^heard evacuate$/)
      await prints(name, /^Saved the world$/, 2)
      await runsAgain(name, startedAt)
    }, NAMES.filter(hasPlayers))
  })

  test('a server that cannot start is blocked, and its console shows the output of the server', async () => {
    const { podName, blockedReason } = await network.reaches('broken', 'BLOCKED')
    expect(blockedReason).toMatch(/exit code 1/)
    expect(await network.consoleOf(podName)).toContain("Error: Cannot find module 'minecraft-protocol'")
  })

  test('a server is stopped by its command and stays stopped until it is started, and deleting its deployment keeps its files', async () => {
    await each(async (name) => {
      viewerOf(name).power('stop')
      await network.reaches(name, 'STOPPED')
      const lines = await prints(name, /^\[System\] Stopped \(with exit code 0\)\.$/, stopsOf(name))
      const heard = lines.lastIndexOf('heard stop')
      expect(lines.slice(heard, heard + 3)).toEqual([
        'heard stop',
        'Saved the world',
        '[System] Stopped (with exit code 0).',
      ])
      viewerOf(name).power('start')
      await network.reaches(name, 'RUNNING')
      await network.call('DELETE', `/api/deployments/${name}`)
      const world = GAMES[name]!.world
      expect(readdirSync(join(network.shareDir, name)).sort()).toEqual(['main.js', ...(world ? ['world.txt'] : [])])
      if (world) expect(readFileSync(join(network.shareDir, name, 'world.txt'), 'utf8')).toBe(world)
    })
    expect(await cluster().kubectl('-n', 'games-of-each-type', 'get', 'pods', '-o', 'name')).not.toMatch(
      new RegExp(NAMES.join('|')),
    )
  })
}

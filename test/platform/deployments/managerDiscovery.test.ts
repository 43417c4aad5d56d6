import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import type { Peers } from '../../../src/contract/discovery'
import { createDiscovery } from '../../../src/platform/deployments/monitoring/discovery'
import { createPower } from '../../../src/platform/deployments/power'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { directory, manage, deployments, add, consoleOf, running, fill } = managed

describe('§14 discovery', () => {
  test('tells an instance its identity, and the addresses of others in a file that is updated within a second', async () => {
    const SHOW =
      "console.log('env ' + ['DEPLOYMENT', 'INSTANCE', 'NODE', 'PEERS'].map((name) => process.env['QUARTERDECK_' + name]).join(' ')); console.log(require('node:fs').readFileSync(process.env.QUARTERDECK_PEERS, 'utf8')); setInterval(() => {}, 1000)"
    await add('lobby', FOREVER, 'drain: { timeoutSeconds: 600 }\n', 'scalable')
    const manager = manage()
    const [lobby] = await until(
      () => running('lobby'),
      (all) => all.length === 1,
    )
    await add('proxy', SHOW, 'discover: [lobby, nothing]\n', 'proxy')
    manager.wake()
    const lines = await until(
      () => consoleOf('proxy'),
      (all) => all.length >= 2,
    )
    const { podName } = (await deployments().instances('proxy'))[0]!
    const own = join(directory(), 'runtime/peers', podName)
    const file = join(own, 'peers.json')
    expect(lines[0]).toBe(`env proxy ${podName} ${hostname()} ${file}`)
    const peer = { podName: lobby!.podName, ip: '127.0.0.1', port: null, state: 'RUNNING', players: 0, draining: false }
    expect(JSON.parse(lines[1]!)).toEqual({ deployments: { lobby: [peer], nothing: [] } })
    expect([(await stat(own)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o755, 0o644])

    let unreadable = 0
    let isReading = true
    const reading = (async () => {
      while (isReading)
        await readFile(file, 'utf8')
          .then(JSON.parse)
          .catch(() => (unreadable += 1))
    })()
    const read = async () => (JSON.parse(await readFile(file, 'utf8')) as Peers).deployments.lobby![0]
    fill(lobby!.podName, 7)
    managed.discovery.scheduleUpdate()
    await until(read, (seen) => seen?.players === 7)
    const power = createPower({ db: managed.state.db, runtime: managed.runtime, wake: () => manager.wake() })
    await power.request(lobby!.podName, 'drainAndStop')
    await until(read, (seen) => seen?.draining === true)
    await power.request(lobby!.podName, 'kill')
    await until(read, (seen) => seen === undefined)
    isReading = false
    await reading
    expect(unreadable).toBe(0)
    expect(await readdir(own)).toEqual(['peers.json'])

    await deployments().remove('proxy')
    await expect(stat(own)).rejects.toThrow('ENOENT')
  })

  test('security 184: a file that cannot be written does not hold up those of other instances', async () => {
    const peers = join(directory(), 'runtime/peers')
    await add('lobby', FOREVER, '', 'scalable')
    await add('bots', FOREVER, 'discover: [lobby]\ninstances: { min: 2, max: 2 }\n', 'scalable')
    manage()
    await until(async () => (await running('bots')).length === 2)
    const [lobby] = await until(
      () => running('lobby'),
      (all) => all.length === 1,
    )
    const [first, second] = (await running('bots')).map(({ podName }) => podName)
    for (const [broken, whole] of [
      [first!, second!],
      [second!, first!],
    ] as const) {
      // As an instance of a cluster whose mount leads there may do. Repeated, because an update creates the directory.
      await until(async () => {
        await rm(join(peers, broken), { recursive: true, force: true })
        return writeFile(join(peers, broken), '').then(
          () => true,
          () => false,
        )
      })
      const players = broken === first ? 3 : 4
      fill(lobby!.podName, players)
      managed.discovery.scheduleUpdate()
      await until(async () =>
        (await readFile(join(peers, whole, 'peers.json'), 'utf8').catch(() => '')).includes(`"players":${players}`),
      )
      await rm(join(peers, broken))
    }
  })

  test('keeps the file complete when a start and a change write it at the same time', async () => {
    const { discovery } = managed
    await discovery.writePeersFile('0a1b2c-proxy', [])
    await Promise.all(Array.from({ length: 20 }, (_, at) => discovery.writePeersFile('0a1b2c-proxy', [`lobby-${at}`])))
    const own = join(directory(), 'runtime/peers/0a1b2c-proxy')
    expect(JSON.parse(await readFile(join(own, 'peers.json'), 'utf8'))).toEqual({ deployments: { 'lobby-19': [] } })
    await discovery.removePeersFile('0a1b2c-proxy')
    await expect(stat(own)).rejects.toThrow('ENOENT')
  })

  test('a later platform keeps the files of running instances up to date', async () => {
    await add('proxy', FOREVER, 'discover: [lobby]\n', 'proxy')
    const manager = manage()
    const [proxy] = await until(
      () => running('proxy'),
      (all) => all.length === 1,
    )
    await manager.close()
    await managed.reopenDiscovery()
    await add('lobby', FOREVER, '', 'scalable')
    manage()
    const file = join(directory(), 'runtime/peers', proxy!.podName, 'peers.json')
    await until(
      async () => (JSON.parse(await readFile(file, 'utf8')) as Peers).deployments.lobby?.[0]?.state === 'RUNNING',
    )
  })

  test('a platform that cannot read which files there are reads it again at the next change', async () => {
    await add('proxy', FOREVER, 'discover: [proxy]\n', 'proxy')
    manage()
    const [proxy] = await until(
      () => running('proxy'),
      (all) => all.length === 1,
    )
    const peers = join(directory(), 'unreadable-peers')
    await writeFile(peers, 'no directory')
    const logged: string[] = []
    const discovery = createDiscovery({
      db: managed.state.db,
      runtime: managed.runtime,
      players: () => ({ playersOf: () => undefined, portWarning: () => undefined, close: async () => undefined }),
      directory: peers,
      log: pino({}, { write: (line) => void logged.push(line) }),
    })
    try {
      await until(() => logged.some((line) => line.includes('ENOTDIR')), Boolean, 10)
      await rm(peers)
      await mkdir(join(peers, proxy!.podName), { recursive: true })
      discovery.scheduleUpdate()
      const file = join(peers, proxy!.podName, 'peers.json')
      await until(async () => (await readFile(file, 'utf8').catch(() => '')).includes('RUNNING'))
    } finally {
      await discovery.close()
    }
  })
})

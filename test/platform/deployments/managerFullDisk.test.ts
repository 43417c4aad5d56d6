import { appendFileSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createDiscovery } from '../../../src/platform/deployments/monitoring/discovery'
import { hasDiskRoom, hasRoomForCopies } from '../../../src/platform/share/disks'
import { FOREVER, useManagedDeployments } from '../../support/platform/managedDeployments'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, remount, unmount } from '../../support/platform/tmpfs'
import { until } from '../../support/platform/until'

const managed = useManagedDeployments()
const { manage, deployments, add, stateOf, consoleOf, running } = managed
const root = useTemporaryDirectory()
const disk = () => join(root(), 'disk')
const manageOnDisk = () => manage(managed.state.pool, { hasRoom: () => hasDiskRoom(disk()) })

const freeBytes = () => {
  const { bavail, bsize } = statfsSync(disk())
  return bavail * bsize
}
const ballast = () => join(disk(), 'ballast')
/** Fills the disk, but for some blocks, so that a start would fail in the middle or later. */
const fill = () => writeFileSync(ballast(), Buffer.alloc(freeBytes() - 2 ** 20))
const free = () => rmSync(ballast())

;(canMount ? describe : describe.skip)('on a full disk of the data directory (skipped without mount rights)', () => {
  beforeEach(() => mountTmpfs(disk(), '16m'))
  afterEach(() => unmount(disk()))

  test('security 169: an instance that crashes is not started until there is room again, and then starts by itself', async () => {
    await add('bot', `${FOREVER}; process.stdin.once('data', () => process.exit(1))`)
    manageOnDisk()
    const [instance] = await until(
      () => running('bot'),
      (all) => all.length === 1,
    )
    fill()
    await managed.runtime.write(instance!.podName, 'crash')
    await until(async () => (await stateOf('bot')) === 'BLOCKED')
    const [blocked] = await deployments().instances('bot')
    expect(blocked).toMatchObject({ blockedReason: 'The disk of the data directory is full.' })
    expect(await consoleOf('bot')).toContain(
      '[System] Blocked: The disk of the data directory is full. It starts when there is room again.',
    )
    free()
    await until(async () => (await running('bot')).length === 1)
  })

  test('security 169: an instance whose file with the addresses of others cannot be written is not started until there is room again', async () => {
    const players = { playersOf: () => undefined, portWarning: () => undefined, close: async () => undefined }
    const discovery = createDiscovery({
      db: managed.state.db,
      runtime: managed.runtime,
      players: () => players,
      directory: join(disk(), 'peers'),
      log: pino({ level: 'silent' }),
    })
    await add('bot', `${FOREVER}; process.stdin.once('data', () => process.exit(1))`, 'discover: [bot]\n')
    manage(managed.state.pool, { hasRoom: () => hasDiskRoom(disk()), discovery })
    const [instance] = await until(
      () => running('bot'),
      (all) => all.length === 1,
    )
    const peers = join(disk(), 'peers', instance!.podName)
    // Then the file that it needs for its next start differs from the one that it has.
    await until(() => readFileSync(join(peers, 'peers.json'), 'utf8').includes(instance!.podName))
    // A file that is being replaced would leave room for the next one.
    await until(() => {
      appendFileSync(ballast(), Buffer.alloc(freeBytes()))
      return readdirSync(peers).length === 1 && freeBytes() === 0
    })
    await managed.runtime.write(instance!.podName, 'crash')
    await until(async () => (await stateOf('bot')) === 'BLOCKED')
    expect((await deployments().instances('bot'))[0]).toMatchObject({
      blockedReason: 'The disk has no room for the file with the addresses of other instances.',
    })
    free()
    await until(async () => (await running('bot')).length === 1)
    await discovery.close()
  })

  test('security 169: a restart ends at the first instance that finds no room, and the others keep running', async () => {
    await add('bots', FOREVER, 'instances: { min: 2, max: 2 }\n', 'scalable')
    manageOnDisk()
    await until(async () => (await running('bots')).length === 2)
    fill()
    await expect(deployments().restart('bots')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('The disk of the data directory has no room for copies of files.'),
    })
    expect(await running('bots')).toHaveLength(1)
    free()
    await until(async () => (await running('bots')).length === 2)
  })

  test('security 189: an instance that runs in a copy of its files waits while copies have no room, and does not count as crashed', async () => {
    remount(disk(), 'size=64m')
    writeFileSync(ballast(), Buffer.alloc(freeBytes() - 6 * 2 ** 20))
    await add('lobby', FOREVER, '', 'scalable')
    await add('bot', FOREVER)
    manage(managed.state.pool, {
      hasRoom: async ({ copy }) => (await hasDiskRoom(disk())) && (!copy || (await hasRoomForCopies(disk()))),
    })
    await until(async () => (await stateOf('lobby')) === 'BLOCKED')
    expect((await deployments().instances('lobby'))[0]).toMatchObject({
      blockedReason: 'The disk of the data directory has no room for copies of files.',
    })
    await until(async () => (await running('bot')).length === 1)
    free()
    await until(async () => (await running('lobby')).length === 1)
  })
})

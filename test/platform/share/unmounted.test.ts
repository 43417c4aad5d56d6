import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { AppError } from '../../../src/platform/errors'
import { createJail } from '../../../src/platform/share/jail'
import { openShareMarker } from '../../../src/platform/share/shareMarker'
import { usePlatform } from '../../support/platform/startPlatform'
import { useTemporaryDirectory } from '../../support/platform/temporaryDirectory'
import { canMount, mountTmpfs, moveMount, unmount } from '../../support/platform/tmpfs'
import { until } from '../../support/platform/until'

const directory = useTemporaryDirectory()
const MARKER = '.quarterdeck-share'
const MESSAGE =
  'The shared area is not mounted: its marker file .quarterdeck-share is missing. Nothing is started or written there until it is mounted again.'

;(canMount ? describe : describe.skip)('§13 a shared area that is mounted', () => {
  const share = () => join(directory(), 'share')
  const aside = () => join(directory(), 'aside')
  const apart = () => join(share(), 'apart')
  const plugins = () => join(share(), 'plugins')
  const keeping = () => join(share(), 'keeping')
  beforeAll(() => mountTmpfs(share()))
  const { platform, account: ann } = usePlatform('ann', () => ({ shareDir: share() }))
  afterAll(() => {
    for (const path of [apart(), plugins(), keeping(), share(), aside()])
      if ([MARKER, 'level.dat'].some((name) => existsSync(join(path, name)))) unmount(path)
  })

  const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: unknown) =>
    platform().call(method, `/api/${url}`, { token: ann().token, body })
  const instances = async (name: string) =>
    (await call('GET', `deployments/${name}/instances`)).body.data.instances as {
      state: string
      name: string
      podName: string
      warnings?: string[]
      blockedReason?: string
    }[]
  const consoleOf = async (podName: string) =>
    (await platform().runtime.history(podName, 100)).map(({ content }) => content)

  async function addDeployment(name: string): Promise<void> {
    expect(await call('POST', 'deployments', { name, type: 'persistent', node: 'node-a' })).toMatchObject({
      status: 201,
    })
    const content = `name: ${name}\ntype: persistent\nnode: node-a\ndataDirectory: /${name}\nrun: { command: ["sh", "-c", "echo started in $PWD; exec sleep 600"] }\nstop: { timeoutSeconds: 1 }\n`
    expect(await call('PATCH', `deployments/${name}`, { content })).toMatchObject({ status: 200 })
  }

  test('is marked once; while it is unmounted, health reports it and nothing is started or written', async () => {
    await addDeployment('world')
    expect(readdirSync(share()).sort()).toEqual([MARKER, 'world'])
    expect((await call('GET', 'sftp/files?path=/nfsshare')).body.data.files).toMatchObject([{ name: 'world' }])
    expect(await call('GET', 'health')).toMatchObject({ status: 200 })

    moveMount(share(), aside())
    expect(await call('GET', 'health')).toMatchObject({ status: 503, body: { message: 'Not ready: share' } })
    const refused = { status: 503, body: { code: 'UNAVAILABLE', message: MESSAGE } }
    expect(await call('GET', 'sftp/files?path=/nfsshare/world')).toMatchObject(refused)
    expect(await call('PATCH', 'sftp/file/content', { path: '/nfsshare/a.txt', content: 'x' })).toMatchObject(refused)
    expect(await call('POST', 'sftp/directory', { path: '/nfsshare/new' })).toMatchObject(refused)
    expect(await call('POST', 'deployments', { name: 'another', type: 'process' })).toMatchObject(refused)
    expect(await call('POST', 'deployments/world/toggle', { enabled: true })).toMatchObject({ status: 200 })
    const [instance] = await until(
      () => instances('world'),
      ([first]) => first !== undefined,
    )
    await until(
      () => consoleOf(instance!.podName),
      (lines) => lines.includes(`[System] Blocked: ${MESSAGE} It starts by itself once this is resolved.`),
    )
    expect(await instances('world')).toMatchObject([{ state: 'BLOCKED', blockedReason: MESSAGE }])
    expect(readdirSync(share())).toEqual([])

    moveMount(aside(), share())
    await until(
      () => instances('world'),
      ([first]) => first?.state === 'RUNNING',
    )
    await until(
      () => consoleOf(instance!.podName),
      (lines) => lines.includes(`started in ${join(share(), 'world')}`),
    )
    expect(await call('GET', 'health')).toMatchObject({ status: 200 })
    expect(await call('PATCH', 'sftp/file/content', { path: '/nfsshare/world/a.txt', content: 'x' })).toMatchObject({
      status: 200,
    })
  })

  test('security 204: a restart during which the share is unmounted ends with the reason, and the others keep running', async () => {
    const gate = join(directory(), 'gate')
    expect(await call('POST', 'deployments', { name: 'lobby', type: 'scalable' })).toMatchObject({ status: 201 })
    const content = `name: lobby\ntype: scalable\ndataDirectory: /lobby\ninstances: { min: 2, max: 2 }\nrun: { command: ["sh", "-c", "read line; until [ -e ${gate} ]; do sleep 0.05; done"] }\nstop: { command: stop, timeoutSeconds: 60 }\n`
    expect(await call('PATCH', 'deployments/lobby', { content })).toMatchObject({ status: 200 })
    await call('POST', 'deployments/lobby/toggle', { enabled: true })
    const states = async () => (await instances('lobby')).map(({ state }) => state).sort()
    await until(states, (all) => all.join() === 'RUNNING,RUNNING')
    const restart = call('POST', 'deployments/lobby/restart')
    await until(states, (all) => all.includes('STOPPING'))
    moveMount(share(), aside())
    writeFileSync(gate, '')
    expect(await restart).toMatchObject({ status: 409, body: { message: expect.stringContaining(MESSAGE) } })
    expect(await states()).toEqual(['BLOCKED', 'RUNNING'])
    moveMount(aside(), share())
    await until(states, (all) => all.join() === 'RUNNING,RUNNING')
  })

  test('security 220: a restart or deletion that waits for files to be written back to an unmounted share is answered, and continues later', async () => {
    const gate = join(directory(), 'gate of keeper')
    expect(await call('POST', 'deployments', { name: 'keeper', type: 'scalable' })).toMatchObject({ status: 201 })
    const content = `name: keeper\ntype: scalable\ndataDirectory: /keeper\nkeep: [list.txt]\nrun: { command: ["sh", "-c", "echo x >> list.txt; read line; until [ -e '${gate}' ]; do sleep 0.05; done"] }\nstop: { command: stop, timeoutSeconds: 60 }\n`
    expect(await call('PATCH', 'deployments/keeper', { content })).toMatchObject({ status: 200 })
    await call('POST', 'deployments/keeper/toggle', { enabled: true })
    const runs = async () => (await instances('keeper'))[0]
    await until(runs, (run) => run?.state === 'RUNNING')
    const restart = call('POST', 'deployments/keeper/restart')
    await until(runs, (run) => run?.state === 'STOPPING')
    moveMount(share(), aside())
    writeFileSync(gate, '')
    const reason = `The files of "keep" could not be written back. ${MESSAGE} This is retried; Kill cancels it.`
    const answer = await restart
    const { name } = (await runs())!
    expect(answer).toMatchObject({
      status: 409,
      body: { message: `${name} has not ended yet: ${reason} The restart continues afterwards.` },
    })
    expect(await runs()).toMatchObject({ state: 'STOPPING', warnings: [reason] })
    moveMount(aside(), share())
    await until(runs, (run) => run?.state === 'RUNNING')
    expect(readFileSync(join(share(), 'keeper', 'list.txt'), 'utf8')).toBe('x\n')

    moveMount(share(), aside())
    expect(await call('DELETE', 'deployments/keeper')).toMatchObject({
      status: 409,
      body: { message: `${name} has not ended yet: ${reason} The deletion continues afterwards.` },
    })
    moveMount(aside(), share())
    await until(async () => (await call('GET', 'deployments/keeper')).status === 404)
    expect(readFileSync(join(share(), 'keeper', 'list.txt'), 'utf8')).toBe('x\nx\n')
  })

  test('a deployment whose directory has disappeared is blocked with the reason rather than started empty', async () => {
    await addDeployment('lost')
    rmSync(join(share(), 'lost'), { recursive: true })
    const reason =
      'The directory /nfsshare/lost no longer exists. Mount or restore it, or create an empty one on the Files page.'
    // Saving its configuration does not create it either.
    const { content } = (await call('GET', 'deployments/lost')).body.data as { content: string }
    expect(await call('PATCH', 'deployments/lost', { content: `${content}# changed\n` })).toMatchObject({ status: 200 })
    await call('POST', 'deployments/lost/toggle', { enabled: true })
    const [blocked] = await until(
      () => instances('lost'),
      ([first]) => first?.state === 'BLOCKED',
    )
    expect(blocked!.blockedReason).toBe(reason)
    expect(await call('POST', 'deployments/lost/restart')).toMatchObject({ status: 409, body: { message: reason } })
    expect(existsSync(join(share(), 'lost'))).toBe(false)
    mkdirSync(join(share(), 'lost'))
    expect(await call('POST', 'deployments/lost/restart')).toMatchObject({ status: 200 })
    expect(await instances('lost')).toMatchObject([{ state: 'RUNNING' }])
  })

  test('security 244: a deployment whose directory was a mount of its own does not start in the empty directory below', async () => {
    mountTmpfs(apart())
    await addDeployment('apart')
    writeFileSync(join(apart(), 'level.dat'), 'kept')
    const enable = (enabled: boolean) => call('POST', 'deployments/apart/toggle', { enabled })
    const becomes = (expected: string) =>
      until(
        () => instances('apart'),
        ([first]) => first?.state === expected,
      )
    await enable(true)
    await becomes('RUNNING')
    await enable(false)
    await until(
      () => instances('apart'),
      (all) => all.every(({ state }) => state === 'STOPPED'),
    )
    moveMount(apart(), aside())
    const reason =
      'The directory /nfsshare/apart was a mount of its own and is now an empty directory. Mount it again, or, to start without its files, create a file in it.'
    await enable(true)
    expect((await becomes('BLOCKED'))[0]!.blockedReason).toBe(reason)
    expect(await call('POST', 'deployments/apart/restart')).toMatchObject({ status: 409, body: { message: reason } })
    // As when it is mounted later than the platform starts.
    moveMount(aside(), apart())
    await becomes('RUNNING')

    // The same after its files were moved to the shared area itself.
    await enable(false)
    await until(
      () => instances('apart'),
      (all) => all.every(({ state }) => state === 'STOPPED'),
    )
    unmount(apart())
    writeFileSync(join(apart(), 'level.dat'), 'moved')
    await enable(true)
    await becomes('RUNNING')
    rmSync(join(apart(), 'level.dat'))
    expect(await call('POST', 'deployments/apart/restart')).toMatchObject({ status: 200 })

    // Another directory than the one that was mounted may be empty.
    mountTmpfs(apart())
    writeFileSync(join(apart(), 'level.dat'), '')
    expect(await call('POST', 'deployments/apart/restart')).toMatchObject({ status: 200 })
    const { content } = (await call('GET', 'deployments/apart')).body.data as { content: string }
    const elsewhere = content.replace('dataDirectory: /apart', 'dataDirectory: /elsewhere')
    expect(await call('PATCH', 'deployments/apart', { content: elsewhere })).toMatchObject({ status: 200 })
    expect(await call('POST', 'deployments/apart/restart')).toMatchObject({ status: 200 })
  })

  test('security 244: a deployment does not start while a directory of "mounts" that was a mount of its own is an empty directory', async () => {
    mountTmpfs(plugins())
    writeFileSync(join(plugins(), 'level.dat'), '')
    await addDeployment('reader')
    const { content } = (await call('GET', 'deployments/reader')).body.data as { content: string }
    await call('PATCH', 'deployments/reader', { content: `${content}mounts: [/plugins]\n` })
    await call('POST', 'deployments/reader/toggle', { enabled: true })
    const becomes = (expected: string) =>
      until(
        () => instances('reader'),
        ([first]) => first?.state === expected,
      )
    await becomes('RUNNING')
    unmount(plugins())
    const reason =
      'The directory /nfsshare/plugins in "mounts" was a mount of its own and is now an empty directory. Mount it again, or, to start without its files, create a file in it.'
    // Nothing is stopped that could not start again.
    expect(await call('POST', 'deployments/reader/restart')).toMatchObject({ status: 409, body: { message: reason } })
    expect(await instances('reader')).toMatchObject([{ state: 'RUNNING' }])
    await call('POST', 'deployments/reader/toggle', { enabled: false })
    await until(
      () => instances('reader'),
      (all) => all.every(({ state }) => state === 'STOPPED'),
    )
    await call('POST', 'deployments/reader/toggle', { enabled: true })
    const [blocked] = await becomes('BLOCKED')
    expect(blocked!.blockedReason).toBe(reason)
    expect(await consoleOf(blocked!.podName)).toContainEqual(expect.stringContaining(`[System] Blocked: ${reason}`))

    mountTmpfs(plugins())
    writeFileSync(join(plugins(), 'level.dat'), '')
    await becomes('RUNNING')
    // The same after its files were moved to the shared area itself.
    unmount(plugins())
    writeFileSync(join(plugins(), 'moved.dat'), '')
    expect(await call('POST', 'deployments/reader/restart')).toMatchObject({ status: 200 })
    rmSync(join(plugins(), 'moved.dat'))
    expect(await call('POST', 'deployments/reader/restart')).toMatchObject({ status: 200 })
  })

  test('security 244: files of "keep" are not written to the empty directory below a mount that is gone', async () => {
    mountTmpfs(keeping())
    writeFileSync(join(keeping(), 'level.dat'), 'kept')
    expect(await call('POST', 'deployments', { name: 'kept', type: 'scalable' })).toMatchObject({ status: 201 })
    const content = `name: kept\ntype: scalable\ndataDirectory: /keeping\nkeep: [list.txt]\nrun: { command: ["sh", "-c", "echo x > list.txt; read line"] }\nstop: { command: stop, timeoutSeconds: 5 }\n`
    expect(await call('PATCH', 'deployments/kept', { content })).toMatchObject({ status: 200 })
    await call('POST', 'deployments/kept/toggle', { enabled: true })
    const run = async () => (await instances('kept'))[0]
    await until(run, (one) => one?.state === 'RUNNING')
    moveMount(keeping(), aside())
    await call('POST', 'deployments/kept/toggle', { enabled: false })
    const stopping = await until(run, (one) => one?.warnings !== undefined)
    expect(stopping).toMatchObject({
      state: 'STOPPING',
      warnings: [
        'The files of "keep" could not be written back. The directory /nfsshare/keeping was a mount of its own and is now an empty directory. Mount it again, or, to write to it as it is, create a file in it. This is retried; Kill cancels it.',
      ],
    })
    expect(readdirSync(keeping())).toEqual([])
    moveMount(aside(), keeping())
    await until(run, (one) => one === undefined || one.state === 'STOPPED')
    expect(readFileSync(join(keeping(), 'list.txt'), 'utf8')).toBe('x\n')
  })

  test('an unmounted share does not empty the replica that instances are copied from', async () => {
    writeFileSync(join(share(), 'world', 'level.dat'), 'kept')
    const target = join(directory(), 'copy')
    await platform().replicas.copyTo(join(share(), 'world'), target)
    moveMount(share(), aside())
    mkdirSync(join(share(), 'world'))
    await expect(platform().replicas.copyTo(join(share(), 'world'), target)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
    expect(readFileSync(join(target, 'level.dat'), 'utf8')).toBe('kept')
    rmSync(join(share(), 'world'), { recursive: true })
    moveMount(aside(), share())
  })
})

;(canMount ? test : test.skip)(
  'security 207: a path of a shared area that is unmounted while it is opened does not lead out of it',
  async () => {
    const share = join(directory(), 'unmounted-meanwhile')
    mountTmpfs(share)
    mkdirSync(join(share, 'world'))
    let checks = 0
    const jail = createJail(share, {
      requireAnswer: async () => undefined,
      async check() {
        if (checks++ > 0) throw new AppError('UNAVAILABLE', MESSAGE)
        unmount(share)
      },
    })
    await expect(jail.openDirectory(['world'])).rejects.toMatchObject({ code: 'UNAVAILABLE', message: MESSAGE })
  },
)

describe('§13 the marker', () => {
  let number = 0
  const log = pino({ level: 'silent' })
  const places = () => {
    const base = join(directory(), `marker-${number++}`)
    const [dataDir, shareDir] = [join(base, 'data'), join(base, 'share')]
    for (const path of [dataDir, shareDir]) mkdirSync(path, { recursive: true })
    return { dataDir, shareDir }
  }
  const rootOf = async (place: { dataDir: string; shareDir: string }, known: string[] = []) =>
    createJail(place.shareDir, await openShareMarker({ ...place, dataDirectories: async () => known, log })).root()

  test('is created at the first use and never recreated silently', async () => {
    const place = places()
    expect(await rootOf(place)).toBe(place.shareDir)
    rmSync(join(place.shareDir, MARKER))
    await expect(rootOf(place)).rejects.toMatchObject({ code: 'UNAVAILABLE', message: MESSAGE })
    expect(readdirSync(place.shareDir)).toEqual([])
    // The operator confirms that this is the correct directory.
    writeFileSync(join(place.shareDir, MARKER), '')
    expect(await rootOf(place)).toBe(place.shareDir)
  })

  test('an installation without a marker gets one, unless none of its directories exists', async () => {
    const upgraded = places()
    mkdirSync(join(upgraded.shareDir, 'lobby'))
    expect(await rootOf(upgraded, ['/lobby', '/deleted'])).toBe(upgraded.shareDir)
    expect(existsSync(join(upgraded.shareDir, MARKER))).toBe(true)

    const unmounted = places()
    await expect(rootOf(unmounted, ['/lobby'])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(readdirSync(unmounted.shareDir)).toEqual([])
    mkdirSync(join(unmounted.shareDir, 'lobby'))
    expect(await rootOf(unmounted, ['/lobby'])).toBe(unmounted.shareDir)
  })

  test('a share marked by another platform is used unchanged, and another directory gets its own marker', async () => {
    const one = places()
    await rootOf(one)
    const other = { ...places(), shareDir: one.shareDir }
    await rootOf(other)
    rmSync(join(one.shareDir, MARKER))
    await expect(rootOf(other)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    const moved = { ...other, shareDir: places().shareDir }
    expect(await rootOf(moved)).toBe(moved.shareDir)
    expect(existsSync(join(moved.shareDir, MARKER))).toBe(true)
  })

  test('concurrent first calls create one marker', async () => {
    const place = places()
    const jail = createJail(place.shareDir, await openShareMarker({ ...place, dataDirectories: async () => [], log }))
    await Promise.all(Array.from({ length: 20 }, () => jail.root()))
    expect(readdirSync(place.shareDir)).toEqual([MARKER])
    expect(readdirSync(place.dataDir)).toEqual(['share.json'])
  })
})

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { canContain, isRoot } from '../../../support/platform/canContain'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { PROGRAMS } from '../../../support/programs'

/** `nobody` on Debian: any user other than root. */
const USER = 65_534
const directory = useTemporaryDirectory()

/**
 * Run by a user other than root: a platform's runtime with one instance, observed from outside. Prints one line of
 * JSON.
 */
const PROGRAM = `
  const { join } = require('node:path')
  const [programs, root, group] = process.argv.slice(1)
  const { openContainedRuntime } = require(join(programs, 'platform/runtime/contained/containedRuntime.js'))
  const log = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, (...text) => console.error(level, ...text)]))
  const parts = { dataDir: join(root, 'data'), shareDir: join(root, 'share'), programs: [], replicas: undefined, log }
  const inside = \`
    const fs = require('node:fs')
    fs.writeFileSync('mine.txt', 'written inside')
    const sees = (path) => { try { fs.readdirSync(path); return true } catch { return false } }
    const make = (path) => { try { fs.mkdirSync(path); return 'made' } catch ({ code }) { return code } }
    console.log(JSON.stringify({ uid: process.getuid(), pids: fs.readdirSync('/proc').filter((name) => Number(name) > 0).length, data: sees(process.argv[1]), group: process.argv[2] && make(process.argv[2] + '/other') }))
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => { console.log('heard ' + line); if (line === 'stop') process.exit(0) })\`
  async function until(ask) {
    for (;;) {
      const answer = await ask()
      if (answer) return answer
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  async function main() {
    const said = {}
    const spec = { podName: 'mine', deployment: 'mine', command: ['node', '-e', inside, parts.dataDir, ...(group ? [group] : [])], directory: join(parts.shareDir, 'mine'), copy: false, env: {}, port: undefined, ready: undefined,
      stop: { command: 'stop', timeoutSeconds: 10 }, limits: { cores: undefined, memoryBytes: undefined } }
    let runtime = await openContainedRuntime(parts)
    const lines = async () => (await runtime.history('mine', 100)).map(({ content }) => content)
    await runtime.ensure(spec)
    said.inside = JSON.parse(await until(async () => (await lines()).find((line) => line.startsWith('{'))))
    await runtime.write('mine', 'hello')
    await until(async () => (await lines()).includes('heard hello'))
    // Another platform finds it and can write to it.
    await runtime.close()
    runtime = await openContainedRuntime(parts)
    await runtime.write('mine', 'again')
    await until(async () => (await lines()).includes('heard again'))
    await runtime.stop('mine')
    said.exit = (await until(async () => (await runtime.list()).find(({ state }) => state === 'EXITED'))).exit
    said.isolation = runtime.isolation
    await runtime.remove('mine')
    await runtime.close()
    console.log(JSON.stringify(said))
  }
  main().catch((error) => { console.error(error); process.exitCode = 1 })`

/** Node.js and the checkout may be unreadable for other users, and a machine may restrict user namespaces to root. */
const canRun =
  canContain &&
  isRoot &&
  spawnSync(process.execPath, ['-e', `require(${JSON.stringify(join(PROGRAMS, 'platform/errors.js'))})`], {
    uid: USER,
    gid: USER,
    cwd: '/',
  }).status === 0 &&
  spawnSync('unshare', ['-Ur', 'true'], { uid: USER, gid: USER, cwd: '/' }).status === 0

/** Where cgroups are mounted; undefined if they are not, or if this test may not make any. */
const cgroups = /^(?:\S+ ){4}(\/sys\/\S+) .* - cgroup2? /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1]
const group = cgroups === undefined ? undefined : join(cgroups, `quarterdeck-test-${process.pid}`)
const canMakeGroup = canRun && group !== undefined && isMade(group)

/** Makes a cgroup that belongs to USER, as systemd does for a service with a user of its own (Delegate=yes). */
function isMade(path: string): boolean {
  try {
    mkdirSync(path)
    chownSync(path, USER, USER)
    return true
  } catch {
    return false
  }
}
afterAll(() => {
  if (!canMakeGroup) return
  if (existsSync(join(group, 'other'))) rmdirSync(join(group, 'other'))
  rmdirSync(group)
})

const SKIPPED = 'skipped where users may not run Node.js or make namespaces'
/** In a user namespace these options of a mount cannot be left out again (mount_namespaces(7)). */
const RESTRICT = String.raw`cgroups=$(sed -n 's|^[^ ]* [^ ]* [^ ]* [^ ]* \(/sys/[^ ]*\) .* - cgroup.*|\1|p' /proc/self/mountinfo)
  mount --bind "$0" "$0"; for path in /sys "$0" $cgroups; do mount -o remount,bind,nosuid,nodev,noexec "$path"; done`

;(canRun ? test.each : test.skip.each)([
  [`a platform without root runs contained instances (${SKIPPED})`, ':'],
  [`a platform without root runs contained instances where systemd restricts the mounts (${SKIPPED})`, RESTRICT],
])(
  'security 173: %s, and they cannot write to its cgroups',
  async (_, prepareMounts) => {
    for (const name of ['', 'data', 'share', 'share/mine']) {
      mkdirSync(join(directory(), name), { recursive: true })
      chownSync(join(directory(), name), USER, USER)
    }
    const asUser = `exec setpriv --reuid ${USER} --regid ${USER} --clear-groups "$@"`
    const command = [process.execPath, '-e', PROGRAM, PROGRAMS, directory(), ...(canMakeGroup ? [group] : [])]
    const child = spawn('unshare', ['--mount', 'sh', '-ec', `${prepareMounts}; ${asUser}`, directory(), ...command], {
      cwd: '/',
      env: { PATH: process.env.PATH, HOME: directory() },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    expect([errors, code]).toEqual(['', 0])
    expect(JSON.parse(out)).toEqual({
      isolation: 'contained',
      // The init of the container and the program. Otherwise it could end the platform, whose group belongs to its
      // user.
      inside: { uid: 0, pids: 2, data: false, ...(canMakeGroup && { group: 'EROFS' }) },
      exit: expect.objectContaining({ code: 0, requested: true }) as unknown,
    })
    expect(readFileSync(join(directory(), 'share/mine/mine.txt'), 'utf8')).toBe('written inside')
  },
  60_000,
)

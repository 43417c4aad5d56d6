import { randomUUID } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname, join } from 'node:path'
import { openFileLimits } from '../../../src/platform/openFiles'
import { createListeningSockets } from '../../../src/platform/deployments/monitoring/listeningSockets'
import { freePort } from '../../support/platform/freePort'
import { ANSWERING_PROGRAM } from '../../support/platform/instanceSpec'
import { suiteInstances } from '../../support/platform/suiteInstances'
import { until } from '../../support/platform/until'
import { consoleSuite, type ConsoleParts } from './consoleSuite'

export interface SuiteParts extends ConsoleParts {
  /** The path of the shared area on this machine; instances of the suite run in its directory `/suite`. */
  share: () => string
  /** The HOME of an instance in `/suite`. */
  home: () => string
}

/** The behaviour that every driver must have. A driver's own test calls this with the real runtime. */
export function runtimeSuite({ share, home, ...parts }: SuiteParts): void {
  const { runtime } = parts
  const { spec, find, reaches, lines, prints } = suiteInstances(runtime)
  beforeAll(() => mkdir(join(share(), 'suite'), { recursive: true }))

  consoleSuite(parts)

  test('an instance starts, prints, answers its input, and exits when stopped', async () => {
    const wanted = spec({ port: 25_566 })
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    expect(await find(wanted.podName)).toMatchObject({ state: 'RUNNING', port: 25_566 })
    expect(isIP((await find(wanted.podName))!.ip)).not.toBe(0)
    await runtime().write(wanted.podName, 'hello; $(id)')
    await prints(wanted.podName, 'heard hello; $(id)')
    await runtime().stop(wanted.podName)
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({ code: 0, requested: true })
  })

  test('starting an instance twice runs one process', async () => {
    const wanted = spec({ command: ['node', '-e', `console.log('pid ' + process.pid);${ANSWERING_PROGRAM}`] })
    await Promise.all([runtime().ensure(wanted), runtime().ensure(wanted)])
    await prints(wanted.podName, 'Ready')
    await runtime().ensure(wanted)
    await runtime().write(wanted.podName, 'still you')
    await prints(wanted.podName, 'heard still you')
    expect((await lines(wanted.podName)).filter((line) => line.startsWith('pid '))).toHaveLength(1)
    await runtime().kill(wanted.podName)
  })

  test('an exit without a stop is reported as such, with its exit code', async () => {
    const wanted = spec()
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    const first = await find(wanted.podName)
    await runtime().write(wanted.podName, 'crash')
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over).toMatchObject({ runId: first?.runId, exit: { code: 3, requested: false } })

    await runtime().ensure(wanted)
    const second = await reaches(wanted.podName, 'RUNNING')
    expect(second?.runId).not.toBe(first?.runId)
    await until(
      () => lines(wanted.podName),
      (all) => all.filter((line) => line === 'Ready').length === 2,
    )
    await runtime().kill(wanted.podName)
    await reaches(wanted.podName, 'EXITED')
  })

  test('an instance that ignores its stop command gets SIGTERM after the timeout', async () => {
    const wanted = spec({
      command: [
        'node',
        '-e',
        "process.on('SIGTERM', () => { console.log('term'); process.exit(7) }); setInterval(() => {}, 1000); console.log('Ready')",
      ],
      stop: { command: 'stop', timeoutSeconds: 1 },
    })
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    await runtime().stop(wanted.podName)
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({ code: 7, requested: true })
    expect(await lines(wanted.podName)).toContain('term')
  })

  test('decisions §5: an instance that also ignores SIGTERM gets SIGKILL 10 s later', async () => {
    const wanted = spec({
      command: [
        'node',
        '-e',
        "process.on('SIGTERM', () => console.log('term ' + Date.now())); setInterval(() => {}, 1000); console.log('Ready')",
      ],
      stop: { command: 'stop', timeoutSeconds: 1 },
    })
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    const stoppedAt = Date.now()
    await runtime().stop(wanted.podName)
    expect(await find(wanted.podName)).toMatchObject({ state: 'STOPPING' })
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({ code: null, signal: 'SIGKILL', requested: true })
    const [term, ...others] = (await lines(wanted.podName)).filter((line) => line.startsWith('term '))
    expect(others).toEqual([])
    expect(Number(term!.slice(5)) - stoppedAt).toBeGreaterThanOrEqual(990)
    // One second until SIGTERM, ten more until SIGKILL, and a margin for a busy machine.
    expect(over!.exit!.at - stoppedAt).toBeGreaterThanOrEqual(10_900)
    expect(over!.exit!.at - stoppedAt).toBeLessThan(20_000)
  })

  test('a program that does not exist ends the instance with a readable reason', async () => {
    const wanted = spec({ command: ['no-such-program', '--flag'] })
    await runtime().ensure(wanted)
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({
      requested: false,
      failure: 'Could not be started: "no-such-program" or its directory does not exist.',
    })
  })

  test('reports a clear error when Java is not installed', async () => {
    const wanted = spec({ command: ['java', '-jar', 'server.jar', 'nogui'], env: { PATH: '/nowhere' } })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'EXITED')
    expect((await lines(wanted.podName)).join()).toContain('Java is not installed')
  })

  test('an instance cannot exceed its memory limit', async () => {
    expect(runtime().limits).toMatch(/memory/)
    const greedy =
      "console.log('Ready'); const all = []; for (let i = 0; i < 64; i++) all.push(Buffer.alloc(32 * 2 ** 20, 1)); console.log('took it')"
    const wanted = spec({ command: ['node', '-e', greedy], limits: { cores: 1, memoryBytes: 512 * 2 ** 20 } })
    await runtime().ensure(wanted)
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({ requested: false })
    expect(over?.exit?.code).not.toBe(0)
    expect(await lines(wanted.podName)).not.toContain('took it')
  })

  /** An instance that runs this program in a copy of the file, and the path of the original. */
  async function copyOf(name: string, content: string, program: string) {
    const dataDirectory = `/source-${randomUUID()}`
    const original = join(share(), dataDirectory, name)
    await mkdir(dirname(original))
    await writeFile(original, content)
    return { original, wanted: spec({ dataDirectory, copy: true, command: ['node', '-e', program] }) }
  }

  test('an instance with a copy sees the files as of its start, and its own files stay in the copy', async () => {
    const { original, wanted } = await copyOf(
      'a.txt',
      'one',
      "const fs = require('node:fs'); console.log(fs.readFileSync('a.txt', 'utf8')); fs.writeFileSync('b.txt', ''); console.log(fs.readdirSync('.').join())",
    )
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'a.txt,b.txt')
    await reaches(wanted.podName, 'EXITED')
    expect(await readdir(dirname(original))).toEqual(['a.txt'])
    await writeFile(original, 'two')
    await runtime().ensure(wanted)
    await until(
      () => lines(wanted.podName),
      (all) => all.filter((line) => line === 'a.txt,b.txt').length === 2,
    )
    expect(await lines(wanted.podName)).toContain('two')
  })

  test('security 159: what an instance changes in its copy is gone at its next start, also with the old size and time', async () => {
    const { wanted } = await copyOf(
      'plugin.js',
      'original',
      "const fs = require('node:fs'); console.log('found ' + fs.readFileSync('plugin.js', 'utf8')); const { atime, mtime } = fs.statSync('plugin.js'); fs.writeFileSync('plugin.js', 'tampered'); fs.utimesSync('plugin.js', atime, mtime)",
    )
    for (const starts of [1, 2, 3]) {
      await runtime().ensure(wanted)
      await until(
        () => lines(wanted.podName),
        (all) => all.filter((line) => line.startsWith('found ')).length === starts,
      )
      await reaches(wanted.podName, 'EXITED')
    }
    expect((await lines(wanted.podName)).filter((line) => line.startsWith('found '))).toEqual(
      Array.from({ length: 3 }, () => 'found original'),
    )
  })

  test('an instance whose files cannot be copied ends with a reason', async () => {
    const wanted = spec({ dataDirectory: '/not-there', copy: true })
    await expect(runtime().ensure(wanted)).rejects.toThrow()
    expect(await find(wanted.podName)).toMatchObject({
      state: 'EXITED',
      exit: { failure: 'Could not be started: its files could not be copied.' },
    })
  })

  test('a program that the system refuses to start ends the instance with a reason', async () => {
    for (const program of ['x'.repeat(300), '/etc/passwd/x', '/etc/passwd', 'no\nsuch']) {
      const wanted = spec({ command: [program] })
      await runtime().ensure(wanted)
      const over = await reaches(wanted.podName, 'EXITED')
      expect(over?.exit).toMatchObject({ requested: false, failure: expect.stringContaining('Could not be started') })
    }
  })

  test('an instance ends although a child process in another session still holds its output', async () => {
    const wanted = spec({ command: ['sh', '-c', 'setsid sleep 20 & echo left; exit 3'] })
    await runtime().ensure(wanted)
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({ code: 3, requested: false })
    expect(await lines(wanted.podName)).toContain('left')
  })

  test('a stopping instance ends although a child process in another session still holds its output', async () => {
    const wanted = spec({
      command: ['sh', '-c', 'setsid sleep 20 & echo Ready; read line; sleep 0.5; exit 0'],
      ready: 'Ready',
      stop: { command: 'stop', timeoutSeconds: 1 },
    })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'RUNNING')
    await runtime().stop(wanted.podName)
    // On a busy machine the exit code may be missing.
    expect((await reaches(wanted.podName, 'EXITED'))?.exit).toMatchObject({ requested: true })
  })

  /** The path of a directory whose copy takes a while. */
  async function largeDirectory(): Promise<string> {
    const dataDirectory = `/large-${randomUUID()}`
    const source = join(share(), dataDirectory)
    await mkdir(source)
    await Promise.all(Array.from({ length: 3000 }, (_file, at) => writeFile(join(source, String(at)), '')))
    return dataDirectory
  }

  test('a run has one id from the copy of its files on, so that requests for it are not taken for done', async () => {
    const wanted = spec({ dataDirectory: await largeDirectory(), copy: true })
    const ensured = runtime().ensure(wanted)
    const copying = await until(() => find(wanted.podName))
    await ensured
    expect((await reaches(wanted.podName, 'RUNNING'))?.runId).toBe(copying?.runId)
    await runtime().kill(wanted.podName)
    await reaches(wanted.podName, 'EXITED')
  })

  test('stopping an instance during the copy of its files aborts the copy and starts nothing', async () => {
    const wanted = spec({ dataDirectory: await largeDirectory(), copy: true })
    const ensured = runtime().ensure(wanted)
    await until(
      () => find(wanted.podName),
      (run) => run?.state === 'STARTING',
    )
    await runtime().stop(wanted.podName)
    await ensured
    await until(
      () => find(wanted.podName),
      (run) => run === undefined || run.state === 'EXITED',
    )
    expect(await lines(wanted.podName)).not.toContain('Ready')
  })

  test('a command never passes through a shell, and the environment contains only the given variables', async () => {
    process.env.PLATFORM_SECRET = 'must not be inherited'
    const program = 'console.log(JSON.stringify([process.argv.slice(1), process.env]))'
    const wanted = spec({
      command: ['node', '-e', program, '--', '; touch /tmp/x', '$(id)', '`id`', ''],
      env: { GREETING: 'hi "there"' },
    })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'EXITED')
    delete process.env.PLATFORM_SECRET
    const [args, env] = JSON.parse((await lines(wanted.podName)).find((line) => line.startsWith('['))!) as [
      string[],
      Record<string, string>,
    ]
    expect(args).toEqual(['; touch /tmp/x', '$(id)', '`id`', ''])
    expect(env).toMatchObject({ GREETING: 'hi "there"', HOME: home() })
    expect(Object.keys(env).filter((name) => /SECRET|QUARTERDECK|NODE|npm/i.test(name))).toEqual(['QUARTERDECK_NODE'])
  })

  test('usage includes child processes', async () => {
    const child =
      "const { spawn } = require('node:child_process'); spawn('node', ['-e', 'const b = Buffer.alloc(64 * 2 ** 20, 1); for (;;) b[0]++'], { stdio: 'inherit' }); console.log('Ready')"
    const wanted = spec({ command: ['node', '-e', child], stop: { command: undefined, timeoutSeconds: 1 } })
    await runtime().ensure(wanted)
    const used = await until(
      async () => (await runtime().sample()).find(({ podName }) => podName === wanted.podName),
      (usage) => (usage?.cpuMs ?? 0) > 300 && (usage?.memoryBytes ?? 0) > 64 * 2 ** 20,
    )
    expect(used?.memoryBytes).toBeLessThan(2 ** 30)
    await runtime().kill(wanted.podName)
    await reaches(wanted.podName, 'EXITED')
    expect((await runtime().sample()).map(({ podName }) => podName)).not.toContain(wanted.podName)
  })

  test('security 108: a process of an instance has a limit of open files', async () => {
    // In a cluster, its nodes set one.
    if (!runtime().sharesPorts) return
    const wanted = spec({ command: ['sh', '-c', 'echo "$(ulimit -Sn) $(ulimit -Hn)"'] })
    await runtime().ensure(wanted)
    const limit = Math.min(16_384, openFileLimits()?.hard ?? Infinity)
    await prints(wanted.podName, `${limit} ${limit}`)
    await reaches(wanted.podName, 'EXITED')
  })

  test('security 107: the instance that has a port is determined by the kernel, whatever a program claims', async () => {
    // Elsewhere each has an address of its own.
    if (!runtime().sharesPorts) return
    const port = await freePort()
    const victim = spec()
    await runtime().ensure(victim)
    const listen = `require('node:net').createServer().listen(${port}, '127.0.0.1', () => console.log('listens'))`
    const liar = spec({
      command: ['sh', '-c', 'node -e "$0"; true', listen],
      env: { QUARTERDECK_INSTANCE: victim.podName },
    })
    await runtime().ensure(liar)
    await prints(liar.podName, 'listens')
    const listening = await createListeningSockets(() => runtime().list())()
    expect(await listening?.ownerOf(port)).toEqual({ kind: 'instance', podName: liar.podName })
    for (const { podName } of [victim, liar]) {
      await runtime().kill(podName)
      await reaches(podName, 'EXITED')
    }
  })

  test('watchers are notified of changes, and an exited instance can be removed', async () => {
    let changes = 0
    const unwatch = runtime().watch(() => (changes += 1))
    const wanted = spec({ command: ['node', '-e', ''] })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'EXITED')
    expect(changes).toBeGreaterThanOrEqual(2)
    unwatch()
    await runtime().remove(wanted.podName)
    expect(await find(wanted.podName)).toBeUndefined()
    expect(await lines(wanted.podName)).toEqual([])
  })
}

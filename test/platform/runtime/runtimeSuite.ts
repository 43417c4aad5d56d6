import { randomUUID } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { InstanceSpec, Runtime, RuntimeInstance } from '../../../src/platform/runtime/runtime'
import { until } from '../../support/platform/until'

export interface SuiteParts {
  runtime: () => Runtime
  /** A directory that instances can run in. */
  directory: () => string
}

/** A program for `node -e` that answers its standard input, as a game server would. */
const ANSWERS = `
  console.log('Ready')
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    if (line === 'stop') process.exit(0)
    if (line === 'crash') process.exit(3)
    console.log('heard ' + line)
  })`

/** What every driver must do. A driver's own test calls it with the real thing. */
export function runtimeSuite({ runtime, directory }: SuiteParts): void {
  const spec = (change: Partial<InstanceSpec> = {}): InstanceSpec => ({
    podName: `pod-${randomUUID().slice(0, 8)}`,
    command: ['node', '-e', ANSWERS],
    directory: directory(),
    copy: false,
    env: {},
    ready: undefined,
    stop: { command: 'stop', timeoutSeconds: 5 },
    limits: { cores: undefined, memoryBytes: undefined },
    ...change,
  })
  const find = async (podName: string) => (await runtime().list()).find((run) => run.podName === podName)
  const reaches = (podName: string, state: RuntimeInstance['state']) => until(() => find(podName), (run) => run?.state === state)
  const lines = async (podName: string) => (await runtime().history(podName, 1000)).map(({ content }) => content)
  const prints = (podName: string, text: string) => until(() => lines(podName), (all) => all.includes(text))

  test('an instance starts, prints, answers what is written to it, and ends when asked', async () => {
    const wanted = spec()
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    await runtime().write(wanted.podName, 'hello; $(id)')
    await prints(wanted.podName, 'heard hello; $(id)')
    await runtime().stop(wanted.podName)
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({ code: 0, requested: true })
  })

  test('asking twice for one instance runs one process', async () => {
    const wanted = spec({ command: ['node', '-e', `console.log('pid ' + process.pid);${ANSWERS}`] })
    await Promise.all([runtime().ensure(wanted), runtime().ensure(wanted)])
    await prints(wanted.podName, 'Ready')
    await runtime().ensure(wanted)
    await runtime().write(wanted.podName, 'still you')
    await prints(wanted.podName, 'heard still you')
    expect((await lines(wanted.podName)).filter((line) => line.startsWith('pid '))).toHaveLength(1)
    await runtime().kill(wanted.podName)
  })

  test('the ready line moves it from STARTING to RUNNING', async () => {
    const wanted = spec({ ready: 'heard go$' })
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    expect(await find(wanted.podName)).toMatchObject({ state: 'STARTING' })
    await runtime().write(wanted.podName, 'go')
    await reaches(wanted.podName, 'RUNNING')
    await runtime().kill(wanted.podName)
    await reaches(wanted.podName, 'EXITED')
  })

  test('an end by itself is told from one that was asked for, with its exit code', async () => {
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
    await until(() => lines(wanted.podName), (all) => all.filter((line) => line === 'Ready').length === 2)
    await runtime().kill(wanted.podName)
    await reaches(wanted.podName, 'EXITED')
  })

  test('one that ignores its stop command gets SIGTERM after the timeout', async () => {
    const wanted = spec({ command: ['node', '-e', "process.on('SIGTERM', () => { console.log('term'); process.exit(7) }); setInterval(() => {}, 1000); console.log('Ready')"], stop: { command: 'stop', timeoutSeconds: 1 } })
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    await runtime().stop(wanted.podName)
    expect(await find(wanted.podName)).toMatchObject({ state: 'STOPPING' })
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({ code: 7, requested: true })
    expect(await lines(wanted.podName)).toContain('term')
  })

  test('a program that does not exist ends with a reason for people', async () => {
    const wanted = spec({ command: ['no-such-program', '--flag'] })
    await runtime().ensure(wanted)
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({ requested: false, failure: 'Could not be started: "no-such-program" or its directory does not exist.' })
  })

  test('a java that is not installed is said clearly', async () => {
    const wanted = spec({ command: ['java', '-jar', 'server.jar', 'nogui'], env: { PATH: '/nowhere' } })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'EXITED')
    expect((await lines(wanted.podName)).join()).toContain('Java is not installed')
  })

  test('an instance with a memory limit cannot take more', async () => {
    expect(runtime().limits).toMatch(/memory/)
    const greedy = "console.log('Ready'); const all = []; for (let i = 0; i < 64; i++) all.push(Buffer.alloc(32 * 2 ** 20, 1)); console.log('took it')"
    const wanted = spec({ command: ['node', '-e', greedy], limits: { cores: 1, memoryBytes: 512 * 2 ** 20 } })
    await runtime().ensure(wanted)
    const over = await reaches(wanted.podName, 'EXITED')
    expect(over?.exit).toMatchObject({ requested: false })
    expect(over?.exit?.code).not.toBe(0)
    expect(await lines(wanted.podName)).not.toContain('took it')
  })

  test('a line can be noted for an instance that never ran', async () => {
    const podName = spec().podName
    await runtime().note(podName, 'not yet')
    expect(await lines(podName)).toEqual(['not yet'])
    expect(await find(podName)).toBeUndefined()
    await runtime().remove(podName)
    expect(await lines(podName)).toEqual([])
  })

  test('an instance with a copy sees the files as they are at its start, and keeps what it writes to itself', async () => {
    const source = join(directory(), `source-${randomUUID()}`)
    await mkdir(source)
    await writeFile(join(source, 'a.txt'), 'one')
    const wanted = spec({ directory: source, copy: true, command: ['node', '-e', "const fs = require('node:fs'); console.log(fs.readFileSync('a.txt', 'utf8')); fs.writeFileSync('b.txt', ''); console.log(fs.readdirSync('.').join())"] })
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'a.txt,b.txt')
    await reaches(wanted.podName, 'EXITED')
    expect(await readdir(source)).toEqual(['a.txt'])
    await writeFile(join(source, 'a.txt'), 'two')
    await runtime().ensure(wanted)
    await until(() => lines(wanted.podName), (all) => all.filter((line) => line === 'a.txt,b.txt').length === 2)
    expect(await lines(wanted.podName)).toContain('two')
  })

  test('one whose files cannot be copied ends with a reason', async () => {
    const wanted = spec({ directory: join(directory(), 'not-there'), copy: true })
    await expect(runtime().ensure(wanted)).rejects.toThrow('ENOENT')
    expect(await find(wanted.podName)).toMatchObject({ state: 'EXITED', exit: { failure: 'Could not be started: its files could not be copied.' } })
  })

  test('no shell ever sees a command, and the environment holds what was given and none of ours', async () => {
    process.env.PLATFORM_SECRET = 'must not be inherited'
    const program = 'console.log(JSON.stringify([process.argv.slice(1), process.env]))'
    const wanted = spec({ command: ['node', '-e', program, '--', '; touch /tmp/x', '$(id)', '`id`'], env: { GREETING: 'hi "there"' } })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'EXITED')
    delete process.env.PLATFORM_SECRET
    const [args, env] = JSON.parse((await lines(wanted.podName)).find((line) => line.startsWith('['))!) as [string[], Record<string, string>]
    expect(args).toEqual(['; touch /tmp/x', '$(id)', '`id`'])
    expect(env).toMatchObject({ GREETING: 'hi "there"', HOME: directory() })
    expect(Object.keys(env).filter((name) => /SECRET|QUARTERDECK|NODE|npm/i.test(name))).toEqual([])
  })

  test('console lines are numbered without gaps, errors are told apart, and long ones are cut', async () => {
    const program = `for (let i = 0; i < 300; i++) console.log('line ' + i); console.error('oh no'); process.stdout.write('x'.repeat(9000) + '\\r\\n'); process.stdout.write('half a line')`
    const wanted = spec({ command: ['node', '-e', program] })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'EXITED')
    const all = await runtime().history(wanted.podName, 10_000)
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_line, at) => at + 1))
    expect(all.filter(({ type }) => type === 'error').map(({ content }) => content)).toEqual(['oh no'])
    expect(all.find(({ content }) => content.startsWith('xxx'))?.content).toBe(`${'x'.repeat(8192)}…`)
    expect(all.map(({ content }) => content)).toContain('half a line')
    expect(await runtime().history(wanted.podName, 2)).toEqual(all.slice(-2))
  })

  test('what it uses is measured, its children included', async () => {
    const child = "const { spawn } = require('node:child_process'); spawn('node', ['-e', 'const b = Buffer.alloc(64 * 2 ** 20, 1); for (;;) b[0]++'], { stdio: 'inherit' }); console.log('Ready')"
    const wanted = spec({ command: ['node', '-e', child], stop: { command: undefined, timeoutSeconds: 1 } })
    await runtime().ensure(wanted)
    const used = await until(
      async () => (await runtime().sample()).find(({ podName }) => podName === wanted.podName),
      (usage) => (usage?.cpuMs ?? 0) > 300 && (usage?.memoryBytes ?? 0) > 100 * 2 ** 20,
    )
    expect(used?.memoryBytes).toBeLessThan(2 ** 30)
    await runtime().kill(wanted.podName)
    await reaches(wanted.podName, 'EXITED')
    expect((await runtime().sample()).map(({ podName }) => podName)).not.toContain(wanted.podName)
  })

  test('changes are told to who watches, and an instance that ended can be forgotten', async () => {
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

import type { Runtime } from '../../../src/platform/runtime/runtime'
import { ANSWERING_PROGRAM } from '../../support/platform/instanceSpec'
import { suiteInstances } from '../../support/platform/suiteInstances'
import { until } from '../../support/platform/until'

export interface ConsoleParts {
  runtime: () => Runtime
  /** Whether the driver knows standard error from standard output. Default: true. */
  knowsErrors?: boolean
  /** How many lines of 16,000 characters fill all buffers of an instance that reads nothing. Default: 200. */
  linesThatFill?: number
}

/** The part of `runtimeSuite` about input, output and the ready line. */
export function consoleSuite({ runtime, knowsErrors = true, linesThatFill = 200 }: ConsoleParts): void {
  const { spec, find, reaches, lines, prints } = suiteInstances(runtime)

  test('the ready line changes the state of an instance from STARTING to RUNNING', async () => {
    const wanted = spec({ ready: 'heard go$' })
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    // Lines of the platform do not count as output of the program.
    await runtime().note(wanted.podName, '[System] still waiting for heard go')
    await runtime().write(wanted.podName, 'not yet')
    await prints(wanted.podName, 'heard not yet')
    expect(await find(wanted.podName)).toMatchObject({ state: 'STARTING' })
    await runtime().write(wanted.podName, 'go')
    await reaches(wanted.podName, 'RUNNING')
    await runtime().kill(wanted.podName)
    await reaches(wanted.podName, 'EXITED')
  })

  test('decisions §6: a line of the platform has its own type, which no program can give to its output', async () => {
    const wanted = spec({ command: ['node', '-e', `console.log('[System] forged');${ANSWERING_PROGRAM}`] })
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    await runtime().note(wanted.podName, '[System] true')
    await runtime().kill(wanted.podName)
    await reaches(wanted.podName, 'EXITED')
    const notes = (await runtime().history(wanted.podName, 100)).filter(({ content }) => content.startsWith('[System]'))
    expect(notes.map(({ type, content }) => [type, content]).slice(0, 2)).toEqual([
      ['message', '[System] forged'],
      ['system', '[System] true'],
    ])
  })

  test('a line can be added to the console of an instance that never ran', async () => {
    const podName = spec().podName
    await runtime().note(podName, 'not yet')
    expect(await lines(podName)).toEqual(['not yet'])
    expect(await find(podName)).toBeUndefined()
    await runtime().remove(podName)
    expect(await lines(podName)).toEqual([])
  })

  test('a ready expression with catastrophic backtracking is aborted and blocks nothing', async () => {
    const wanted = spec({
      ready: '^(a+)+$',
      command: ['node', '-e', `console.log('${'a'.repeat(40)}!');${ANSWERING_PROGRAM}`],
    })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'RUNNING')
    await prints(wanted.podName, '[System] The ready expression takes too long to match. The instance counts as ready.')
    await runtime().kill(wanted.podName)
  })

  test('security 100: a ready expression that takes too long over many lines in total is aborted', async () => {
    const wanted = spec({
      ready: '^a*a*b',
      command: ['node', '-e', `setInterval(() => console.log('${'a'.repeat(4000)}'), 10);${ANSWERING_PROGRAM}`],
    })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'RUNNING')
    await prints(wanted.podName, '[System] The ready expression takes too long to match. The instance counts as ready.')
    await runtime().kill(wanted.podName)
  })

  test('NUL and truncated surrogate pairs are replaced, and line numbers stay correct', async () => {
    const wanted = spec({
      command: [
        'node',
        '-e',
        "process.stdout.write('a\\0b\\n'); process.stdout.write('x'.repeat(8191) + '😀\\n'); console.log('end')",
      ],
    })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'EXITED')
    await runtime().note(wanted.podName, 'two\nlines')
    const all = await runtime().history(wanted.podName, 100)
    expect(all[0]!.content).toBe('a\u2400b')
    expect(all[1]!.content.isWellFormed()).toBe(true)
    expect(all.at(-1)).toMatchObject({ seq: all.length, content: 'two lines' })
  })

  test('input for an instance that does not read it is refused when the buffer is full', async () => {
    const wanted = spec({ command: ['node', '-e', "console.log('Ready'); setInterval(() => {}, 1000)"] })
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    const answers: boolean[] = []
    for (let round = 0; round < linesThatFill; round++)
      answers.push(await runtime().write(wanted.podName, 'x'.repeat(16_000)))
    expect(answers[0]).toBe(true)
    expect(answers.at(-1)).toBe(false)
    await runtime().kill(wanted.podName)
    await reaches(wanted.podName, 'EXITED')
    expect(await runtime().write(wanted.podName, 'anybody?')).toBe(false)
  })

  test('following a busy console gives the kept lines and all later ones without a gap', async () => {
    const wanted = spec({
      command: [
        'node',
        '-e',
        "let n = 0; setInterval(() => { for (let i = 0; i < 5; i++) console.log('line ' + ++n) }, 1)",
      ],
    })
    await runtime().ensure(wanted)
    await until(
      async () => (await runtime().history(wanted.podName, 1))[0]?.seq ?? 0,
      (seq) => seq > 2000,
    )
    for (let round = 0; round < 10; round++) {
      const heard: number[] = []
      const [oldest] = await runtime().history(wanted.podName, 500)
      const unfollow = await runtime().follow(wanted.podName, oldest!.seq, (some) =>
        heard.push(...some.map(({ seq }) => seq)),
      )
      await until(() => heard.length > 1000)
      unfollow()
      expect(heard).toEqual(heard.map((_seq, at) => oldest!.seq + at))
    }
    await runtime().kill(wanted.podName)
  })

  test('console lines are numbered without gaps, errors are marked, and long lines are truncated', async () => {
    const program = `for (let i = 0; i < 300; i++) console.log('line ' + i); console.error('oh no'); process.stdout.write('x'.repeat(9000) + '\\r\\n'); process.stdout.write('half a line')`
    const wanted = spec({ command: ['node', '-e', program] })
    await runtime().ensure(wanted)
    await reaches(wanted.podName, 'EXITED')
    const all = await runtime().history(wanted.podName, 10_000)
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_line, at) => at + 1))
    expect(all.filter(({ type }) => type === 'error').map(({ content }) => content)).toEqual(
      knowsErrors ? ['oh no'] : [],
    )
    expect(all.find(({ content }) => content.startsWith('xxx'))?.content).toBe(`${'x'.repeat(8192)}…`)
    expect(all.map(({ content }) => content)).toContain('half a line')
    expect(await runtime().history(wanted.podName, 2)).toEqual(all.slice(-2))
  })

  test('security 40: Unicode line separators are part of a line, in input and output', async () => {
    const wanted = spec()
    await runtime().ensure(wanted)
    await prints(wanted.podName, 'Ready')
    await runtime().write(wanted.podName, 'a\u0085b\u2028c\u2029d')
    await until(
      () => lines(wanted.podName),
      (all) => all.some((line) => /^heard a.b/.test(line)),
    )
    const program = `console.log('e\\u2028f\\u2029g\\u0085h\\u000bi\\u000cj')`
    const other = spec({ command: ['node', '-e', program] })
    const heard: string[] = []
    const unfollow = await runtime().follow(other.podName, 1, (news) =>
      heard.push(...news.map(({ content }) => content)),
    )
    await runtime().ensure(other)
    await reaches(other.podName, 'EXITED')
    await until(() => heard.length >= 2)
    unfollow()
    expect(heard[0]).toBe('e\u2028f\u2029g\u0085h\u000bi\u000cj')
    await runtime().kill(wanted.podName)
  })
}

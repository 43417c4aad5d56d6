import {
  appendFileSync,
  existsSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { ContainerLog } from '../../../../src/platform/runtime/contained/log/containerLog'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'

const directory = useTemporaryDirectory()
const TIME = '2026-11-22T02:47:32.915815340+00:00'
const row = (text: string, stream = 'stdout', tag = 'F') => `${TIME} ${stream} ${tag} ${text}\n`

const opened: ContainerLog[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()))
})

async function newLog(): Promise<{ file: string; log: ContainerLog; open: () => ContainerLog }> {
  const file = join(await mkdtemp(join(directory(), 'log-')), 'pod.log')
  // conmon rotates like this: a new file, renamed to the old name.
  const reopen = async () => {
    writeFileSync(`${file}.tmp`, '')
    renameSync(`${file}.tmp`, file)
    return true
  }
  const open = () => {
    const log = new ContainerLog(file, reopen)
    opened.push(log)
    return log
  }
  return { file, log: open(), open }
}
/** The paths of the files that this process has open. */
const openFiles = () =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })
const contents = async (log: ContainerLog, limit = 10_000) => (await log.history(limit)).map(({ content }) => content)

test('rows in the container log format become numbered lines, and partial rows of each stream are joined', async () => {
  const { file, log } = await newLog()
  writeFileSync(
    file,
    row('one') +
      row('long ', 'stdout', 'P') +
      row('oops', 'stderr') +
      row('line') +
      row('cut in the midd', 'stdout', 'P'),
  )
  expect(await log.history(10)).toEqual([
    { seq: 1, type: 'message', content: 'one' },
    { seq: 2, type: 'error', content: 'oops' },
    { seq: 3, type: 'message', content: 'long line' },
  ])
  await log.finishLines()
  await log.note('the platform speaks')
  expect((await log.history(10)).slice(-2)).toEqual([
    { seq: 4, type: 'message', content: 'cut in the midd' },
    { seq: 5, type: 'system', content: 'the platform speaks' },
  ])
})

test('a line of many tiny partial rows is joined up to the limit of a line', async () => {
  const { file, log } = await newLog()
  writeFileSync(file, row('x', 'stdout', 'P').repeat(20_000) + row('end') + row('next'))
  const lines = await log.history(10)
  expect(lines.map(({ seq }) => seq)).toEqual([1, 2])
  expect(lines[0]?.content).toBe(`${'x'.repeat(8192)}…`)
  expect(lines[1]?.content).toBe('next')
})

test('a row truncated by a full disk is shown unchanged and does not disturb numbering', async () => {
  const { file, log } = await newLog()
  writeFileSync(file, `${row('one')}2026-11-22T02:4${row('two')}${row('three')}`)
  const lines = await log.history(10)
  expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3])
  expect(lines.at(-1)).toMatchObject({ content: 'three' })
})

test('a character split across chunks stays whole', async () => {
  const { file, log } = await newLog()
  const bytes = Buffer.from('x😀y')
  appendFileSync(
    file,
    Buffer.concat([
      Buffer.from(`${TIME} stdout P `),
      bytes.subarray(0, 3),
      Buffer.from('\n'),
      Buffer.from(`${TIME} stdout F `),
      bytes.subarray(3),
      Buffer.from('\n'),
    ]),
  )
  expect(await contents(log)).toEqual(['x😀y'])
})

test('no program can forge a line of the platform', async () => {
  const { file, log } = await newLog()
  appendFileSync(file, row(`${TIME} system F forged`))
  expect(await log.history(1)).toEqual([{ seq: 1, type: 'message', content: `${TIME} system F forged` }])
})

test('§6 numbering continues across rotations and platforms, and the last 10,000 lines are kept', async () => {
  const { file, log, open } = await newLog()
  let written = 0
  const write = (count: number) => {
    let text = ''
    for (let at = 0; at < count; at++) text += row(`line ${++written} ${'x'.repeat(150)}`)
    appendFileSync(file, text)
  }
  const heard: number[] = []
  await log.follow(1, (lines) => heard.push(...lines.map(({ seq }) => seq)))
  for (let round = 0; round < 5; round++) {
    write(30_000)
    await log.settle()
  }
  expect(heard).toEqual(Array.from({ length: written }, (_line, at) => at + 1))
  await log.close()

  write(10)
  const next = open()
  const lines = await next.history(10_000)
  expect(lines).toHaveLength(10_000)
  expect(lines.at(-1)).toMatchObject({ seq: written, content: expect.stringMatching(new RegExp(`^line ${written} x`)) })
  expect(lines[0]).toMatchObject({
    seq: written - 9_999,
    content: expect.stringMatching(new RegExp(`^line ${written - 9_999} x`)),
  })
  await next.close()
})

test('§6 a program that prints faster than it is read blocks no reader, its log is rotated, and no line is lost', async () => {
  const { file, log } = await newLog()
  const rows = 2000
  const block = row('x'.repeat(1000)).repeat(rows)
  let blocks = 0
  let isPrinting = true
  const print = () => {
    if (!isPrinting) return
    appendFileSync(file, block)
    blocks += 1
  }
  // However much is read, more has been written by then.
  await log.follow(1, print)
  print()
  log.poll()
  const [line] = await log.history(1)
  isPrinting = false
  const rotated = existsSync(`${file}.1`)
  expect(line!.seq).toBeLessThan(20 * rows)
  expect(rotated).toBe(true)
  await log.settle()
  expect(log.lastSeq).toBe(blocks * rows)
  expect(statSync(file).size).toBeLessThan(10 * 2 ** 20)
  await log.close()
})

test('§6 a line that a rotation splits reaches viewers as a whole', async () => {
  const { file, log } = await newLog()
  const heard: string[] = []
  await log.follow(1, (lines) => heard.push(...lines.map(({ content }) => content)))
  writeFileSync(file, row('x'.repeat(1024)).repeat(8 * 1024) + row('split ', 'stdout', 'P'))
  await log.settle()
  expect(existsSync(`${file}.1`)).toBe(true)
  appendFileSync(file, row('line'))
  await log.settle()
  expect(heard.slice(8 * 1024)).toEqual(['split line'])
})

test('§6 numbering continues after a log was rotated while no platform was running, if its predecessor exists', async () => {
  const { file, log, open } = await newLog()
  writeFileSync(file, row('one'))
  await log.settle()
  await log.close()
  appendFileSync(file, row('two'))
  renameSync(file, `${file}.1`)
  writeFileSync(file, row('three'))
  const next = open()
  expect(await next.history(10)).toMatchObject([{ seq: 1 }, { seq: 2 }, { seq: 3, content: 'three' }])
  await next.close()
})

test('§6 after lines were lost, later lines get unused numbers', async () => {
  const { file, log, open } = await newLog()
  writeFileSync(file, row('one') + row('two'))
  await log.settle()
  await log.close()
  writeFileSync(`${file}.tmp`, row('much later'))
  renameSync(`${file}.tmp`, file)
  const next = open()
  const [line] = await next.history(10)
  expect(line).toMatchObject({ content: 'much later' })
  expect(line!.seq).toBeGreaterThan(1000)
  await next.close()
})

test('long histories are limited to 4 MiB', async () => {
  const { file, log } = await newLog()
  for (let at = 0; at < 900; at++) appendFileSync(file, row(`${at} ${'x'.repeat(8000)}`))
  const lines = await log.history(10_000)
  expect(lines.at(-1)!.seq).toBe(900)
  const bytes = lines.reduce((sum, { content }) => sum + content.length, 0)
  expect(bytes).toBeLessThanOrEqual(4 * 2 ** 20)
  expect(bytes).toBeGreaterThan(3.9 * 2 ** 20)
})

test('lines are decoded after the clock was set back', async () => {
  const { file, log } = await newLog()
  writeFileSync(file, row('before'))
  const heard: string[] = []
  await log.follow(1, (lines) => heard.push(...lines.map(({ content }) => content)))
  const now = Date.now.bind(Date)
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - 86_400_000)
  try {
    appendFileSync(file, row('after'))
    await log.settle()
  } finally {
    clock.mockRestore()
  }
  expect(heard).toEqual(['before', 'after'])
  await log.close()
})

test('a line of the platform that cannot be stored is lost without an error, and the next one is stored', async () => {
  const { file, log } = await newLog()
  symlinkSync(file, file)
  await log.note('lost')
  await log.watchLines(0, undefined)
  rmSync(file)
  await log.note('stored')
  expect(await contents(log)).toEqual(['stored'])
})

test('a log that is closed opens its file no more, although its instance still ends', async () => {
  const { file, log } = await newLog()
  writeFileSync(file, row('one'))
  await log.settle()
  const isOpen = () => openFiles().includes(file)
  expect(isOpen()).toBe(true)
  await log.close()
  await log.finishLines()
  expect(isOpen()).toBe(false)
})

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunRecord } from '../../../../src/platform/runtime/contained/runRecord'
import type { LocalSpec } from '../../../../src/platform/runtime/runtime'
import { withLocalPaths } from '../../../../src/platform/runtime/localPaths'
import { describeContained, testAsRoot, useContainedRuntime } from '../../../support/platform/containedInstances'
import { pathsIn } from '../../../support/platform/instanceSpec'
import { isGone } from '../../../support/platform/processesOf'
import { mountReadOnly, mountTmpfs, remount, unmount } from '../../../support/platform/tmpfs'
import { until } from '../../../support/platform/until'
import { runtimeSuite } from '../runtimeSuite'

const {
  root,
  dataDir,
  shareDir,
  runtime,
  directoryOf,
  spec,
  find,
  hasEnded,
  lines,
  prints,
  reopen,
  withRuntimeIn,
  withRunc,
  runInside,
} = useContainedRuntime()

/** A complete program for Linux on i386: `mov eax, 1; mov ebx, 7; int 0x80`, which exits with code 7. */
const EXIT_7 = Buffer.from(
  '7f454c46010101000000000000000000' +
    '02000300010000005480040834000000' +
    '00000000000000003400200001000000' +
    '00000000' +
    '01000000000000000080040800800408' +
    '60000000600000000500000000100000' +
    'b801000000bb07000000cd80',
  'hex',
)
const testOf32Bits = canRun(EXIT_7, 7) ? test : test.skip

/** Whether this machine runs a program, which then exits with this code. */
function canRun(program: Buffer, code: number): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'quarterdeck-program-'))
  try {
    writeFileSync(join(directory, 'program'), program, { mode: 0o755 })
    return spawnSync(join(directory, 'program')).status === code
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describeContained('contained instances (skipped where runc, conmon or socat is missing)', () => {
  runtimeSuite({ runtime: () => withLocalPaths(runtime(), pathsIn(shareDir)), share: shareDir, home: () => '/data' })

  testOf32Bits('32-bit programs run in a container (skipped where the machine cannot run them)', async () => {
    writeFileSync(join(directoryOf('old'), 'exit7'), EXIT_7, { mode: 0o755 })
    await runtime().ensure(spec('old', ['/data/exit7']))
    await hasEnded('old')
    expect(await find('old')).toMatchObject({ exit: { code: 7 } })
  })

  describe('security 51: an instance that was being started when the platform was killed', () => {
    /** Changes the record to that of a platform that was killed before it had recorded the start. */
    const forgetStart = (podName: string) => {
      const file = join(dataDir(), 'runtime/contained/runs', `${podName}.json`)
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), state: 'STARTING' }))
    }
    const upAndWait: LocalSpec['command'] = ['sh', '-c', 'echo up; exec sleep 1000']

    test('runs, if its program was started', async () => {
      await runtime().ensure(spec('begun', upAndWait))
      await prints('begun', 'up')
      const { runId } = (await find('begun'))!
      await reopen(() => forgetStart('begun'))
      expect(await find('begun')).toMatchObject({ runId, state: 'RUNNING' })
    })

    test('is started again, if its program was not', async () => {
      await withRunc('case "$*" in *" start created-"*) exit 0;; esac', async () => {
        await runtime().ensure(spec('created', upAndWait))
        await reopen(() => forgetStart('created'))
        expect(await find('created')).toBeUndefined()
      })
      await runtime().ensure(spec('created', upAndWait))
      await prints('created', 'up')
    })
  })

  test('an instance that an orderly shutdown of the machine ended has not crashed, although its exit code is known', async () => {
    await runtime().ensure(spec('shut', ['sh', '-c', "trap 'exit 7' TERM; echo up; while :; do sleep 0.05; done"]))
    await prints('shut', 'up')
    const file = join(dataDir(), 'runtime/contained/runs/shut.json')
    const record = JSON.parse(readFileSync(file, 'utf8')) as RunRecord
    await reopen(() => {
      writeFileSync(file, JSON.stringify({ ...record, scope: 'an earlier boot' }))
      process.kill(record.pid!, 'SIGTERM')
    })
    expect((await hasEnded('shut'))?.exit).toMatchObject({
      code: 7,
      requested: false,
      orderly: false,
      interruption: 'Ended before the machine or the platform’s container was started again.',
    })
    expect((await lines('shut')).at(-1)).toBe(
      '[System] Ended before the machine or the platform’s container was started again.',
    )
  })

  test('what an instance leaves unchanged in its copy is not copied again at its next start', async () => {
    writeFileSync(join(directoryOf('large'), 'world.dat'), 'as it was')
    const copied = spec('large', ['stat', '-c', 'inode %i', 'world.dat'], { copy: true })
    for (const starts of [1, 2, 3]) {
      await runtime().ensure(copied)
      await until(
        () => lines('large'),
        (all) => all.filter((line) => line.startsWith('inode ')).length === starts,
      )
      await hasEnded('large')
    }
    expect(new Set((await lines('large')).filter((line) => line.startsWith('inode '))).size).toBe(1)
  })

  test('when memory runs out, the kernel kills instances before the platform', async () => {
    expect(await runInside('first-to-go', 'cat /proc/self/oom_score_adj')).toContain('500')
  })

  test('§12 limits of CPU, memory and processes are enforced', async () => {
    const files =
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/cpu.max /sys/fs/cgroup/memory.max /sys/fs/cgroup/pids.max'
    const said = await runInside('limited', `cat ${files} 2>/dev/null; true`, {
      limits: { cores: 0.5, memoryBytes: 256 * 2 ** 20 },
    })
    expect(runtime().enforced).toEqual({ cpu: true, memory: true })
    expect(said.join(' ')).toMatch(/50000( 100000)? 268435456 4096/)
  })

  testAsRoot('a run that was killed because its memory ran out says so', async () => {
    const script = 'setInterval(() => (globalThis.all ??= []).push(Buffer.alloc(2 ** 23, 1)), 1)'
    const limits = { cores: undefined, memoryBytes: 128 * 2 ** 20 }
    await runtime().ensure(spec('greedy', ['node', '-e', script], { limits }))
    const killed = 'Killed for memory: it needed more than it may use (resources.memory), or the machine had none left.'
    expect((await hasEnded('greedy'))?.exit).toMatchObject({ signal: 'SIGKILL', killed, requested: false })
    expect((await lines('greedy')).slice(-2)).toEqual([
      `[System] ${killed}`,
      '[System] Ended by itself by signal SIGKILL.',
    ])
  })

  testAsRoot('a memory limit in which no container can start is named, and is not temporary', async () => {
    const limits = { cores: undefined, memoryBytes: 2 ** 20 }
    await runtime().ensure(spec('tiny', ['sleep', '60'], { limits }))
    const exit = (await hasEnded('tiny'))?.exit
    expect(exit?.failure).toBe(
      'Could not be started: its memory limit (resources.memory) is too small for any program.',
    )
    expect(exit?.isTemporary).toBeUndefined()
  })

  test('§12 a program outside the visible directories is refused until QUARTERDECK_PROGRAMS lists its directory', async () => {
    const tools = join(root(), 'tools')
    mkdirSync(join(tools, 'bin'), { recursive: true })
    writeFileSync(join(tools, 'bin/greet'), '#!/bin/sh\necho hello from outside\n')
    chmodSync(join(tools, 'bin/greet'), 0o755)
    await runtime().ensure(spec('outside', [join(tools, 'bin/greet')]))
    expect((await hasEnded('outside'))?.exit?.failure).toBe(
      `Could not be started: "${join(tools, 'bin/greet')}" is ${join(tools, 'bin/greet')}, which instances cannot access. Add its directory to QUARTERDECK_PROGRAMS.`,
    )
    await reopen(undefined, [tools])
    await runtime().ensure(spec('outside', ['greet']))
    await prints('outside', 'hello from outside')
  })

  test('a flood of output does not block the runtime: lines are skipped, and their numbers stay correct', async () => {
    await runtime().ensure(
      spec('flood', [
        'sh',
        '-c',
        'yes "$(head -c 200 /dev/zero | tr "\\0" x)" | head -c 400000000; echo; echo end of flood',
      ]),
    )
    const heard: number[] = []
    const unfollow = await runtime().follow('flood', 1, (some) => heard.push(...some.map(({ seq }) => seq)))
    await until(
      () => lines('flood', 5),
      (last) => last.includes('end of flood'),
      120,
    )
    unfollow()
    const ended = await runtime().history('flood', 10_000)
    expect(ended.length).toBe(10_000)
    expect(ended.map(({ seq }) => seq)).toEqual(ended.map((_line, at) => ended[0]!.seq + at))
    expect(heard).not.toEqual([])
    expect(heard).toEqual([...heard].sort((one, other) => one - other))
  }, 180_000)

  testAsRoot(
    'a full disk of the data directory ends no instance, and consoles continue when space is free',
    async () => {
      const small = join(root(), 'small')
      mountTmpfs(join(small, 'runtime/contained'), '1m')
      await withRuntimeIn(small, async () => {
        await runtime().ensure(
          spec('fills', [
            'node',
            '-e',
            `console.log('Ready'); require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        if (line === 'fill') for (let i = 0; i < 20_000; i++) console.log('x'.repeat(100))
        console.log('heard ' + line) })`,
          ]),
        )
        await prints('fills', 'Ready')
        await runtime().write('fills', 'fill')
        await until(() => statfsSync(join(small, 'runtime/contained')).bavail === 0)
        // An instance that cannot start for lack of space reports that and may be retried.
        await runtime().ensure(spec('no-room', ['sh', '-c', 'echo up']))
        expect((await hasEnded('no-room'))?.exit?.failure).toMatch(/full/)
        expect(await find('fills')).toMatchObject({ state: 'RUNNING' })
        remount(join(small, 'runtime/contained'), 'size=30m')
        // The first row after the truncated one continues it.
        await until(
          async () =>
            (await runtime().write('fills', 'room again')) && (await lines('fills')).includes('heard room again'),
        )
        await runtime().ensure(spec('no-room', ['sh', '-c', 'echo up']))
        await prints('no-room', 'up')
        await runtime().kill('fills')
        await until(
          () => runtime().list(),
          (all) => all.every(({ state }) => state === 'EXITED'),
        )
      }).finally(() => unmount(join(small, 'runtime/contained')))
    },
  )

  testAsRoot(
    'if the file system does not allow changing owners, an instance runs as the owner of its files, and never as root',
    async () => {
      // A read-only bind mount refuses chown, as a share with root squash does.
      const own = directoryOf('squashed')
      chownSync(own, 1234, 1234)
      mountReadOnly(own)
      try {
        expect((await runInside('squashed', 'id -u')).slice(-2)).toEqual([
          '1234',
          '[System] Ended by itself with exit code 0.',
        ])
        remount(own, 'bind,rw')
        chownSync(own, 0, 0)
        remount(own, 'bind,ro')
        await runtime().ensure(spec('squashed', ['id', '-u']))
        expect((await hasEnded('squashed'))?.exit?.failure).toMatch(
          /belongs to root, and the file system does not allow a change of owner/,
        )
      } finally {
        unmount(own)
      }
    },
  )

  test('§5 a new runtime finds running instances without losing lines, input or exits that happened meanwhile', async () => {
    await runtime().ensure(
      spec('runs-on', [
        'node',
        '-e',
        "let n = 0; setInterval(() => console.log('tick ' + ++n), 10); require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => console.log('heard ' + line))",
      ]),
    )
    await runtime().ensure(spec('ends', ['sh', '-c', 'echo Ready; read line; echo last words; exit 5']))
    await prints('ends', 'Ready')
    await prints('runs-on', 'tick 5')
    const { runId } = (await find('runs-on'))!
    await runtime().write('ends', 'go')
    await reopen()
    expect(await find('runs-on')).toMatchObject({ runId, state: 'RUNNING' })
    expect((await hasEnded('ends'))?.exit).toMatchObject({ code: 5, requested: false })
    expect(await lines('ends')).toEqual(['Ready', 'last words', '[System] Ended by itself with exit code 5.'])
    await runtime().write('runs-on', 'again')
    await prints('runs-on', 'heard again')
    const ticks = (await lines('runs-on')).filter((line) => line.startsWith('tick'))
    expect(ticks).toEqual(ticks.map((_line, at) => `tick ${at + 1}`))
    await runtime().kill('runs-on')
    await hasEnded('runs-on')
  })

  test('§5 a stop in progress is completed by the next runtime', async () => {
    await runtime().ensure(
      spec(
        'stubborn',
        [
          'node',
          '-e',
          "process.on('SIGTERM', () => console.log('term')); console.log('Ready'); setInterval(() => {}, 1000)",
        ],
        { stop: { command: 'stop', timeoutSeconds: 1 } },
      ),
    )
    await prints('stubborn', 'Ready')
    await runtime().stop('stubborn')
    await reopen()
    expect(await find('stubborn')).toMatchObject({ state: 'STOPPING' })
    expect((await hasEnded('stubborn'))?.exit).toMatchObject({ signal: 'SIGKILL', requested: true })
    expect(await lines('stubborn')).toContain('term')
  })

  test('the next runtime ends a container whose record is lost, because it cannot identify it', async () => {
    await runtime().ensure(spec('forgotten', ['sh', '-c', 'echo Ready; exec sleep 98765']))
    await prints('forgotten', 'Ready')
    await reopen(() => rmSync(join(dataDir(), 'runtime/contained/runs/forgotten.json')))
    expect(await find('forgotten')).toBeUndefined()
    await until(() => !execFileSync('ps', ['-eo', 'args']).toString().includes('sleep 98765'))
  })

  test('killing a monitor ends its instance, and no process is left', async () => {
    await runtime().ensure(spec('unwatched', ['sh', '-c', 'echo Ready; while :; do sleep 0.2; done']))
    await prints('unwatched', 'Ready')
    const { monitor, pid } = JSON.parse(
      readFileSync(join(dataDir(), 'runtime/contained/runs/unwatched.json'), 'utf8'),
    ) as RunRecord
    process.kill(monitor!.pid, 'SIGKILL')
    expect((await hasEnded('unwatched'))?.exit).toMatchObject({
      code: null,
      requested: false,
      failure: expect.stringContaining('the exit code is unknown'),
    })
    await until(() => isGone(pid!))
  })
})

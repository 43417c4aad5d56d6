import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openContainedRuntime } from '../../../../src/platform/runtime/contained/containedRuntime'
import { findContainerPrograms } from '../../../../src/platform/runtime/contained/containerPrograms'
import type { RunRecord } from '../../../../src/platform/runtime/contained/runRecord'
import type { LocalSpec, Runtime } from '../../../../src/platform/runtime/runtime'
import { withLocalPaths } from '../../../../src/platform/runtime/localPaths'
import { FIRST_USER_ID } from '../../../../src/platform/share/ownership'
import { createReplicas, type Replicas } from '../../../../src/platform/share/replicas/replicas'
import { canContain, isRoot } from '../../../support/platform/canContain'
import { localSpec, pathsIn } from '../../../support/platform/instanceSpec'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'
import { runtimeSuite } from '../runtimeSuite'

const root = useTemporaryDirectory()
const dataDir = () => join(root(), 'data')
const shareDir = () => join(root(), 'share')
const log = pino({ level: 'silent' })
let runtime: Runtime<LocalSpec>
let replicas: Replicas

const open = (programs: string[] = []) =>
  openContainedRuntime({ dataDir: dataDir(), shareDir: shareDir(), programs, replicas, log })

function directoryOf(deployment: string): string {
  const path = join(shareDir(), deployment)
  mkdirSync(path, { recursive: true })
  return path
}

const spec = (podName: string, command: LocalSpec['command'], change: Partial<LocalSpec> = {}): LocalSpec =>
  localSpec({ podName, command, directory: directoryOf(podName), ...change })
const find = async (podName: string) => (await runtime.list()).find((run) => run.podName === podName)
const hasEnded = (podName: string) =>
  until(
    () => find(podName),
    (run) => run?.state === 'EXITED',
  )
const lines = async (podName: string, limit = 10_000) =>
  (await runtime.history(podName, limit)).map(({ content }) => content)
const prints = (podName: string, text: string) =>
  until(
    () => lines(podName),
    (all) => all.includes(text),
  )
const recordOf = (podName: string) =>
  JSON.parse(readFileSync(join(dataDir(), 'runtime/contained/runs', `${podName}.json`), 'utf8')) as RunRecord

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

/** Runs shell commands in a separate instance and returns what they print. */
async function runInside(podName: string, script: string, change: Partial<LocalSpec> = {}): Promise<string[]> {
  await runtime.ensure(spec(podName, ['sh', '-c', script], change))
  await hasEnded(podName)
  return lines(podName)
}

;(canContain ? describe : describe.skip)('contained instances (skipped where runc, conmon or socat is missing)', () => {
  beforeAll(async () => {
    mkdirSync(dataDir(), { mode: 0o711 })
    mkdirSync(shareDir(), { mode: 0o700 })
    replicas = createReplicas(dataDir(), log)
    runtime = await open()
  })
  afterAll(async () => {
    for (const { podName } of await runtime.list()) await runtime.kill(podName)
    await until(
      () => runtime.list(),
      (all) => all.every(({ state }) => state === 'EXITED'),
    )
    await runtime.close()
    await replicas.close()
  })

  runtimeSuite({ runtime: () => withLocalPaths(runtime, pathsIn(shareDir)), share: shareDir, home: () => '/data' })

  /** Runs the work with a runc that runs shell commands first. */
  async function withRunc(commands: string, work: () => Promise<void>): Promise<void> {
    const programs = join(root(), 'wrapping')
    const found = findContainerPrograms(process.env.PATH ?? '')
    mkdirSync(programs, { recursive: true })
    writeFileSync(
      join(programs, 'runc'),
      `#!/bin/sh\n${commands}\nexec ${'runc' in found ? found.runc : 'runc'} "$@"\n`,
      { mode: 0o755 },
    )
    const { PATH } = process.env
    await runtime.close()
    try {
      process.env.PATH = `${programs}:${PATH}`
      runtime = await open()
      await work()
      await runtime.close()
    } finally {
      process.env.PATH = PATH
      runtime = await open()
    }
  }

  /**
   * Runs the work while two directories swap at the moment when runc makes a container. @param path the first of them
   */
  const withSwap = (path: string, target: string, work: () => Promise<void>) =>
    withRunc(
      `case "$*" in *\\ create\\ *) [ -L '${path}' ] || { mv '${path}' '${path}.aside'; ln -s '${target}' '${path}'; };; esac`,
      work,
    )

  test('security: an instance is stopped also when runc cannot be started, as after a fork bomb', async () => {
    await runtime.ensure(spec('bomb', ['sh', '-c', 'echo up; exec sleep 600']))
    await prints('bomb', 'up')
    await withRunc(
      'case "$*" in *\\ kill\\ *) echo \'fork: Resource temporarily unavailable\' >&2; exit 1;; esac',
      async () => {
        await runtime.stop('bomb')
        await hasEnded('bomb')
      },
    )
  })

  test('security: a directory replaced by a link between check and mount is not exposed to the instance', async () => {
    const readable = directoryOf('swapped')
    const own = directoryOf('liar')
    mkdirSync(join(own, 'bin'))
    // A forged program that would satisfy the check.
    writeFileSync(
      join(own, 'bin/stat'),
      "#!/bin/sh\ntr '\\0' '\\n' < /proc/1/cmdline | grep -E '^[0-9]+:[0-9]+$' | tail -1\n",
      { mode: 0o755 },
    )
    writeFileSync(join(dataDir(), 'swap.key'), 'the key of the platform')
    // The program above swaps only the first mount; the trial when the runtime opens does not name it.
    await withSwap(readable, dataDir(), async () => {
      await runtime
        .ensure(
          spec('liar', ['sh', '-c', 'ls /nfsshare/swapped; cat /nfsshare/swapped/swap.key'], {
            env: { PATH: '/data/bin:/usr/bin:/bin' },
            mounts: [{ source: readable, target: '/nfsshare/swapped' }],
          }),
        )
        .catch(() => undefined)
      await hasEnded('liar')
      expect(await find('liar')).toMatchObject({
        exit: { failure: expect.stringMatching(/replaced by (?:another directory|a link)/) as string },
      })
      expect((await lines('liar')).join('\n')).not.toMatch(/swap\.key|the key of the platform/)
    })
  })

  test('32-bit programs run in a container (skipped where the machine cannot run them)', async () => {
    const program = join(directoryOf('old'), 'exit7')
    writeFileSync(program, EXIT_7, { mode: 0o755 })
    if (spawnSync(program).status !== 7) return
    await runtime.ensure(spec('old', ['/data/exit7']))
    await hasEnded('old')
    expect(await find('old')).toMatchObject({ exit: { code: 7 } })
  })

  test('when memory runs out, the kernel kills instances before the platform', async () => {
    expect(await runInside('first-to-go', 'cat /proc/self/oom_score_adj')).toContain('500')
  })

  test('§12 an instance cannot see the data directory, other deployments, or the platform’s processes and sockets', async () => {
    writeFileSync(join(dataDir(), 'secret.key'), 'the key of the platform')
    writeFileSync(join(directoryOf('neighbour'), 'world.dat'), 'not yours')
    const said = await runInside(
      'curious',
      `cat ${dataDir()}/secret.key ${shareDir()}/neighbour/world.dat; ls ${dataDir()} ${shareDir()}; ls /proc | grep -c '^[0-9]'; cat /proc/${process.pid}/environ; kill -0 ${process.pid}; ls /run /var /home /root; echo over`,
    )
    const all = said.join('\n')
    expect(all).toContain('over')
    expect(all).not.toMatch(/the key of the platform|not yours/)
    expect(all).toContain(`${dataDir()}/secret.key: No such file or directory`)
    expect(all).toContain(`/proc/${process.pid}/environ: No such file or directory`)
    expect(all).toMatch(/No such process/)
    for (const directory of ['/run', '/var', '/home', '/root']) expect(all).toContain(`cannot access '${directory}'`)
    // Its init, its shell, and the programs of one pipe.
    expect(said.map(Number).find((count) => count > 0)).toBeLessThan(6)
  })

  test('§12 an instance has no capabilities, cannot gain privileges and cannot write to programs', async () => {
    const said = (
      await runInside(
        'rights',
        'grep -E "^(Cap|NoNewPrivs)" /proc/self/status; touch /usr/x /etc/x /x; unshare -U true; mount -t tmpfs x /tmp; id -u',
      )
    ).join('\n')
    expect(said).toMatch(/CapEff:\s+0000000000000000/)
    expect(said).toMatch(/CapBnd:\s+0000000000000000/)
    expect(said).toMatch(/NoNewPrivs:\s+1/)
    expect(said.match(/Read-only file system/g)).toHaveLength(3)
    expect(said).toMatch(/unshare failed: Operation not permitted/)
    expect(said).toMatch(/mount: .*(permission denied|must be superuser|Operation not permitted)/i)
  })

  test('security 95: an instance cannot open a socket to the host of a virtual machine', async () => {
    expect((await runInside('vsock', 'socat -T1 - VSOCK-CONNECT:2:22 2>&1')).join()).toMatch(
      /socket\(40, .*Operation not permitted/,
    )
  })

  test('security 105: an instance can neither take a lease of a file, which would delay others, nor read the kernel log', async () => {
    const lease = 'open(F, ">", "held"); print fcntl(F, 1024, 1) ? "taken" : "$!"'
    expect((await runInside('lease', `perl -e '${lease}'`)).join()).toContain('Operation not permitted')
    expect((await runInside('lease', 'dmesg 2>&1')).join()).toContain('Operation not permitted')
  })

  ;(isRoot ? test : test.skip)(
    '§12 each deployment has its own user id, which owns its directory including links and nested files',
    async () => {
      const own = directoryOf('owned')
      mkdirSync(join(own, 'world/region'), { recursive: true })
      writeFileSync(join(own, 'world/region/r.0.0.mca'), 'x', { mode: 0o600 })
      symlinkSync('/etc/passwd', join(own, 'link'))
      const [uid] = await runInside('owned', 'id -u; echo more >> world/region/r.0.0.mca')
      const [other] = await runInside('other', 'id -u')
      expect(Number(uid)).toBeGreaterThan(FIRST_USER_ID)
      expect(Number(other)).toBeGreaterThan(FIRST_USER_ID)
      expect(other).not.toBe(uid)
      for (const path of ['', 'world', 'world/region', 'world/region/r.0.0.mca', 'link'])
        expect(lstatSync(join(own, path)).uid).toBe(Number(uid))
      expect(lstatSync('/etc/passwd').uid).toBe(0)
      expect(readFileSync(join(own, 'world/region/r.0.0.mca'), 'utf8')).toBe('xmore\n')
      // Once more, after an administrator has copied a file into the directory.
      writeFileSync(join(own, 'by-root.txt'), '')
      expect(await runInside('owned', 'echo written > by-root.txt; cat by-root.txt')).toContain('written')
    },
  )

  ;(isRoot ? test : test.skip)('§12 a deployment inside the directory of another one keeps its files', async () => {
    const inner = join(directoryOf('outer'), 'inner')
    mkdirSync(inner)
    const [innerUid] = await runInside('inner', 'id -u', { directory: inner })
    await runInside('outer', 'true')
    expect(lstatSync(inner).uid).toBe(Number(innerUid))
  })

  ;(isRoot ? test : test.skip)(
    '§12 a directory that another instance replaced by a link is neither mounted nor changes its owner',
    async () => {
      const [target, own] = [directoryOf('target'), join(directoryOf('attacker'), 'own')]
      symlinkSync(target, own)
      for (const [podName, change] of [
        ['swapped-own', { directory: own }],
        ['swapped-mount', { mounts: [{ source: own, target: '/nfsshare/own' }] }],
      ] as const) {
        await runtime.ensure(spec(podName, ['true'], change as Partial<LocalSpec>))
        expect((await hasEnded(podName))?.exit?.failure).toMatch(/^Could not be started: /)
      }
      expect(lstatSync(target).uid).toBe(0)
    },
  )

  test('§12 mounts of a definition are readable and not writable', async () => {
    const common = directoryOf('common')
    writeFileSync(join(common, 'plugin.jar'), 'shared by all')
    chmodSync(common, 0o777)
    const said = await runInside('mounts', 'cat /nfsshare/common/plugin.jar; touch /nfsshare/common/x', {
      mounts: [{ source: common, target: '/nfsshare/common' }],
    })
    expect(said).toContain('shared by all')
    expect(said.join()).toContain('Read-only file system')
  })

  test('§12 no process of an instance survives its stop, its crash or its kill', async () => {
    const leaveBehind = (mark: string) =>
      `setsid sh -c 'exec -a x true; trap "" TERM HUP; sleep 7${mark}' & (setsid setsid sleep 7${mark} &); echo Ready; read line; exit 3`
    for (const [podName, mark, end] of [
      ['stops', '3331', 'stop'],
      ['crashes', '3332', 'crash'],
      ['is-killed', '3333', 'kill'],
    ] as const) {
      await runtime.ensure(spec(podName, ['sh', '-c', leaveBehind(mark)]))
      await prints(podName, 'Ready')
      const isLeft = () =>
        execFileSync('ps', ['-eo', 'args'])
          .toString()
          .split('\n')
          .filter((line) => line.startsWith('sleep 7') && line.includes(mark)).length
      await until(isLeft)
      if (end === 'stop') await runtime.stop(podName)
      else if (end === 'kill') await runtime.kill(podName)
      else await runtime.write(podName, 'go')
      await hasEnded(podName)
      expect(isLeft()).toBe(0)
    }
  })

  describe('a program that traces the first process of its container to hold it at its exit', () => {
    /** ptrace(PTRACE_SEIZE, 1, 0, PTRACE_O_TRACEEXIT) by its number on x86-64; nobody lets the process go on. */
    const trace = `$| = 1; $SIG{TERM} = 'IGNORE'; print syscall(101, 0x4206, 1, 0, 0x40) ? "Refused\\n" : "Traced\\n"; sleep 600`
    const tracer = (podName: string) =>
      spec(podName, ['perl', '-e', trace], { stop: { command: undefined, timeoutSeconds: 1 } })
    const testOnX64 = process.arch === 'x64' ? test : test.skip

    testOnX64('security 97: is refused the trace', async () => {
      await runtime.ensure(tracer('tracer'))
      await prints('tracer', 'Refused')
      await runtime.kill('tracer')
      await hasEnded('tracer')
    })

    testOnX64('security 97: is ended by a kill even if the trace is allowed', async () => {
      const config = join(dataDir(), 'runtime/contained/bundles/*/config.json')
      await withRunc(`case "$*" in *\\ create\\ *) sed -i s/ptrace/acct/g ${config};; esac`, async () => {
        await runtime.ensure(tracer('old-tracer'))
        await prints('old-tracer', 'Traced')
        await runtime.kill('old-tracer')
        await hasEnded('old-tracer')
      })
    })
  })

  test('§12 limits of CPU, memory and processes are enforced', async () => {
    const files =
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/cpu.max /sys/fs/cgroup/memory.max /sys/fs/cgroup/pids.max'
    const said = await runInside('limited', `cat ${files} 2>/dev/null; true`, {
      limits: { cores: 0.5, memoryBytes: 256 * 2 ** 20 },
    })
    expect(runtime.enforced).toEqual({ cpu: true, memory: true })
    expect(said.join(' ')).toMatch(/50000( 100000)? 268435456 4096/)
  })

  test('security 108: a program that opens files without end is stopped by the limit, which it cannot raise', async () => {
    const open = `let n = 0; try { for (;;) require('node:fs').openSync('/dev/null', 'r'), n++ } catch (error) { console.log(error.code, n > 1000 && n < 16384) }`
    const said = await runInside('opener', `ulimit -n 20001 || echo not raised; node -e "${open}"`)
    expect(said).toEqual(expect.arrayContaining(['not raised', 'EMFILE true']))
  })

  test('§12 a program outside the visible directories is refused until QUARTERDECK_PROGRAMS lists its directory', async () => {
    const tools = join(root(), 'tools')
    mkdirSync(join(tools, 'bin'), { recursive: true })
    writeFileSync(join(tools, 'bin/greet'), '#!/bin/sh\necho hello from outside\n')
    chmodSync(join(tools, 'bin/greet'), 0o755)
    await runtime.ensure(spec('outside', [join(tools, 'bin/greet')]))
    expect((await hasEnded('outside'))?.exit?.failure).toBe(
      `Could not be started: "${join(tools, 'bin/greet')}" is ${join(tools, 'bin/greet')}, which instances cannot access. Add its directory to QUARTERDECK_PROGRAMS.`,
    )
    await runtime.close()
    runtime = await open([tools])
    await runtime.ensure(spec('outside', ['greet']))
    await prints('outside', 'hello from outside')
  })

  test('§5 a new runtime finds running instances without losing lines, input or exits that happened meanwhile', async () => {
    await runtime.ensure(
      spec('runs-on', [
        'node',
        '-e',
        "let n = 0; setInterval(() => console.log('tick ' + ++n), 10); require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => console.log('heard ' + line))",
      ]),
    )
    await runtime.ensure(spec('ends', ['sh', '-c', 'echo Ready; read line; echo last words; exit 5']))
    await prints('ends', 'Ready')
    await prints('runs-on', 'tick 5')
    const { runId } = (await find('runs-on'))!
    await runtime.write('ends', 'go')
    await runtime.close()
    runtime = await open()
    expect(await find('runs-on')).toMatchObject({ runId, state: 'RUNNING' })
    expect((await hasEnded('ends'))?.exit).toMatchObject({ code: 5, requested: false })
    expect(await lines('ends')).toEqual(['Ready', 'last words', '[System] Ended by itself with exit code 5.'])
    await runtime.write('runs-on', 'again')
    await prints('runs-on', 'heard again')
    const ticks = (await lines('runs-on')).filter((line) => line.startsWith('tick'))
    expect(ticks).toEqual(ticks.map((_line, at) => `tick ${at + 1}`))
    await runtime.kill('runs-on')
    await hasEnded('runs-on')
  })

  test('§5 a stop in progress is completed by the next runtime', async () => {
    await runtime.ensure(
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
    await runtime.stop('stubborn')
    await runtime.close()
    runtime = await open()
    expect(await find('stubborn')).toMatchObject({ state: 'STOPPING' })
    expect((await hasEnded('stubborn'))?.exit).toMatchObject({ signal: 'SIGKILL', requested: true })
    expect(await lines('stubborn')).toContain('term')
  })

  test('the next runtime ends a container whose record is lost, because it cannot identify it', async () => {
    await runtime.ensure(spec('forgotten', ['sh', '-c', 'echo Ready; exec sleep 98765']))
    await prints('forgotten', 'Ready')
    await runtime.close()
    rmSync(join(dataDir(), 'runtime/contained/runs/forgotten.json'))
    runtime = await open()
    expect(await find('forgotten')).toBeUndefined()
    await until(() => !execFileSync('ps', ['-eo', 'args']).toString().includes('sleep 98765'))
  })

  test('killing a monitor ends its instance, and no process is left', async () => {
    await runtime.ensure(spec('unwatched', ['sh', '-c', 'echo Ready; while :; do sleep 0.2; done']))
    await prints('unwatched', 'Ready')
    const { monitor, pid } = recordOf('unwatched')
    process.kill(monitor!.pid, 'SIGKILL')
    expect((await hasEnded('unwatched'))?.exit).toMatchObject({
      code: null,
      requested: false,
      failure: expect.stringContaining('the exit code is unknown'),
    })
    await until(() => {
      try {
        return readFileSync(`/proc/${pid!}/stat`, 'utf8').includes(') Z')
      } catch {
        return true
      }
    })
  })

  test('a flood of output does not block the runtime: lines are skipped, and their numbers stay correct', async () => {
    await runtime.ensure(
      spec('flood', [
        'sh',
        '-c',
        'yes "$(head -c 200 /dev/zero | tr "\\0" x)" | head -c 400000000; echo; echo end of flood',
      ]),
    )
    const heard: number[] = []
    const unfollow = await runtime.follow('flood', 1, (some) => heard.push(...some.map(({ seq }) => seq)))
    await until(
      () => lines('flood', 5),
      (last) => last.includes('end of flood'),
      120,
    )
    unfollow()
    const ended = await runtime.history('flood', 10_000)
    expect(ended.length).toBe(10_000)
    expect(ended.map(({ seq }) => seq)).toEqual(ended.map((_line, at) => ended[0]!.seq + at))
    expect(heard).toEqual([...heard].sort((one, other) => one - other))
  }, 180_000)

  ;(isRoot ? test : test.skip)(
    '49: a full disk of the data directory ends no instance, and consoles continue when space is free',
    async () => {
      const kept = runtime
      const small = join(root(), 'small')
      mkdirSync(join(small, 'runtime/contained'), { recursive: true })
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', join(small, 'runtime/contained')])
      runtime = await openContainedRuntime({ dataDir: small, shareDir: shareDir(), programs: [], replicas, log })
      try {
        await runtime.ensure(
          spec('fills', [
            'node',
            '-e',
            `console.log('Ready'); require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        if (line === 'fill') for (let i = 0; i < 20_000; i++) console.log('x'.repeat(100))
        console.log('heard ' + line) })`,
          ]),
        )
        await prints('fills', 'Ready')
        await runtime.write('fills', 'fill')
        await until(() => statfsSync(join(small, 'runtime/contained')).bavail === 0)
        // An instance that cannot start for lack of space reports that and may be retried.
        await runtime.ensure(spec('no-room', ['sh', '-c', 'echo up']))
        expect((await hasEnded('no-room'))?.exit?.failure).toMatch(/full/)
        expect(await find('fills')).toMatchObject({ state: 'RUNNING' })
        execFileSync('mount', ['-o', 'remount,size=30m', join(small, 'runtime/contained')])
        // The first row after the truncated one continues it.
        await until(
          async () =>
            (await runtime.write('fills', 'room again')) && (await lines('fills')).includes('heard room again'),
        )
        await runtime.ensure(spec('no-room', ['sh', '-c', 'echo up']))
        await prints('no-room', 'up')
        await runtime.kill('fills')
        await until(
          () => runtime.list(),
          (all) => all.every(({ state }) => state === 'EXITED'),
        )
      } finally {
        await runtime.close()
        runtime = kept
        execFileSync('umount', ['--lazy', join(small, 'runtime/contained')])
      }
    },
  )

  ;(isRoot ? test : test.skip)(
    'if the file system does not allow changing owners, an instance runs as the owner of its files, and never as root',
    async () => {
      // A read-only bind mount refuses chown, as a share with root squash does.
      const own = directoryOf('squashed')
      chownSync(own, 1234, 1234)
      execFileSync('mount', ['--bind', own, own])
      execFileSync('mount', ['-o', 'remount,bind,ro', own])
      try {
        expect((await runInside('squashed', 'id -u')).slice(-2)).toEqual([
          '1234',
          '[System] Ended by itself with exit code 0.',
        ])
        execFileSync('mount', ['-o', 'remount,bind,rw', own])
        chownSync(own, 0, 0)
        execFileSync('mount', ['-o', 'remount,bind,ro', own])
        await runtime.ensure(spec('squashed', ['id', '-u']))
        expect((await hasEnded('squashed'))?.exit?.failure).toMatch(
          /belongs to root, and the file system does not allow a change of owner/,
        )
      } finally {
        execFileSync('umount', [own])
      }
    },
  )
})

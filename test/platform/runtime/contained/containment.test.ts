import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { LocalSpec } from '../../../../src/platform/runtime/runtime'
import { FIRST_USER_ID } from '../../../../src/platform/share/ownership'
import { describeContained, testAsRoot, useContainedRuntime } from '../../../support/platform/containedInstances'
import { canMount, mountTmpfs, unmount } from '../../../support/platform/tmpfs'
import { until } from '../../../support/platform/until'

const { dataDir, shareDir, runtime, directoryOf, spec, find, hasEnded, lines, prints, runInside, withRunc } =
  useContainedRuntime()

describeContained('what a contained instance may do (skipped where runc, conmon or socat is missing)', () => {
  /**
   * Runs the work while two directories swap at the moment when runc makes a container. @param path the first of them
   */
  const withSwap = (path: string, target: string, work: () => Promise<void>) =>
    withRunc(
      `case "$*" in *\\ create\\ *) [ -L '${path}' ] || { mv '${path}' '${path}.aside'; ln -s '${target}' '${path}'; };; esac`,
      work,
    )

  test('security: an instance is stopped also when runc cannot be started, as after a fork bomb', async () => {
    await runtime().ensure(spec('bomb', ['sh', '-c', 'echo up; exec sleep 600']))
    await prints('bomb', 'up')
    await withRunc(
      'case "$*" in *\\ kill\\ *) echo \'fork: Resource temporarily unavailable\' >&2; exit 1;; esac',
      async () => {
        await runtime().stop('bomb')
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
      await runtime()
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

  testAsRoot(
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

  testAsRoot('§12 a deployment inside the directory of another one keeps its files', async () => {
    const inner = join(directoryOf('outer'), 'inner')
    mkdirSync(inner)
    const [innerUid] = await runInside('inner', 'id -u', { directory: inner })
    await runInside('outer', 'true')
    expect(lstatSync(inner).uid).toBe(Number(innerUid))
  })

  testAsRoot(
    '§12 a directory that another instance replaced by a link is neither mounted nor changes its owner',
    async () => {
      const [target, own] = [directoryOf('target'), join(directoryOf('attacker'), 'own')]
      symlinkSync(target, own)
      for (const [podName, change] of [
        ['swapped-own', { directory: own }],
        ['swapped-mount', { mounts: [{ source: own, target: '/nfsshare/own' }] }],
      ] as const) {
        await runtime().ensure(spec(podName, ['true'], change as Partial<LocalSpec>))
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

  ;(canMount ? test : test.skip)(
    'security 174: what is mounted below such a directory is not writable either',
    async () => {
      const disk = join(directoryOf('with-disk'), 'disk')
      mountTmpfs(disk)
      chmodSync(disk, 0o777)
      writeFileSync(join(disk, 'map.dat'), 'a map')
      const said = await runInside('submounts', 'cat /nfsshare/maps/disk/map.dat; touch /nfsshare/maps/disk/x', {
        mounts: [{ source: dirname(disk), target: '/nfsshare/maps' }],
      })
      unmount(disk)
      expect(said).toContain('a map')
      expect(said.join()).toContain('Read-only file system')
    },
  )

  test('§12 no process of an instance survives its stop, its crash or its kill', async () => {
    const leaveBehind = (mark: string) =>
      `setsid sh -c 'exec -a x true; trap "" TERM HUP; sleep 7${mark}' & (setsid setsid sleep 7${mark} &); echo Ready; read line; exit 3`
    for (const [podName, mark, end] of [
      ['stops', '3331', 'stop'],
      ['crashes', '3332', 'crash'],
      ['is-killed', '3333', 'kill'],
    ] as const) {
      await runtime().ensure(spec(podName, ['sh', '-c', leaveBehind(mark)]))
      await prints(podName, 'Ready')
      const isLeft = () =>
        execFileSync('ps', ['-eo', 'args'])
          .toString()
          .split('\n')
          .filter((line) => line.startsWith('sleep 7') && line.includes(mark)).length
      await until(isLeft)
      if (end === 'stop') await runtime().stop(podName)
      else if (end === 'kill') await runtime().kill(podName)
      else await runtime().write(podName, 'go')
      await hasEnded(podName)
      expect(isLeft()).toBe(0)
    }
  })

  describe('a program that traces the first process of its container to hold it at its exit', () => {
    /**
     * ptrace(PTRACE_SEIZE, 1, 0, PTRACE_O_TRACEEXIT) by its number on x86-64. The traced process stays stopped at its
     * exit.
     */
    const trace = `$| = 1; $SIG{TERM} = 'IGNORE'; print syscall(101, 0x4206, 1, 0, 0x40) ? "Refused\\n" : "Traced\\n"; sleep 600`
    const tracer = (podName: string) =>
      spec(podName, ['perl', '-e', trace], { stop: { command: undefined, timeoutSeconds: 1 } })
    const testOnX64 = process.arch === 'x64' ? test : test.skip

    testOnX64('security 97: is refused the trace', async () => {
      await runtime().ensure(tracer('tracer'))
      await prints('tracer', 'Refused')
      await runtime().kill('tracer')
      await hasEnded('tracer')
    })

    testOnX64('security 97: is ended by a kill even if the trace is allowed', async () => {
      const config = join(dataDir(), 'runtime/contained/bundles/*/config.json')
      await withRunc(`case "$*" in *\\ create\\ *) sed -i s/ptrace/acct/g ${config};; esac`, async () => {
        await runtime().ensure(tracer('old-tracer'))
        await prints('old-tracer', 'Traced')
        await runtime().kill('old-tracer')
        await hasEnded('old-tracer')
      })
    })
  })

  test('security 108: a program that opens files without end is stopped by the limit, which it cannot raise', async () => {
    const open = `let n = 0; try { for (;;) require('node:fs').openSync('/dev/null', 'r'), n++ } catch (error) { console.log(error.code, n > 1000 && n < 16384) }`
    const said = await runInside('opener', `ulimit -n 20001 || echo not raised; node -e "${open}"`)
    expect(said).toEqual(expect.arrayContaining(['not raised', 'EMFILE true']))
  })
})

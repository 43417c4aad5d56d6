import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findContainerPrograms } from '../../../../src/platform/runtime/contained/containerPrograms'
import type { RunRecord } from '../../../../src/platform/runtime/contained/runRecord'
import { openRuntime } from '../../../../src/platform/runtime/openRuntime'
import type { LocalSpec } from '../../../../src/platform/runtime/runtime'
import { describeContained, useContainedRuntime } from '../../../support/platform/containedInstances'
import { isGone } from '../../../support/platform/processesOf'
import { until } from '../../../support/platform/until'

const { root, dataDir, runtime, spec, find, hasEnded, prints, reopen, settings, withRunc } = useContainedRuntime()

const recordOf = (podName: string) =>
  JSON.parse(readFileSync(join(dataDir(), `runtime/contained/runs/${podName}.json`), 'utf8')) as RunRecord
const LASTING: LocalSpec['command'] = ['sh', '-c', 'echo Ready; while :; do sleep 0.2; done']
/** The directories of a cgroup: one, or with cgroups v1 one for each hierarchy. */
const groupsOf = (cgroup: string) =>
  ['', ...readdirSync('/sys/fs/cgroup')].map((name) => join('/sys/fs/cgroup', name, cgroup)).filter(existsSync)

describeContained('when runc fails (skipped where runc, conmon or socat is missing)', () => {
  test('security 219: a start that fails because runc is missing or cannot create a container counts as temporary', async () => {
    await withRunc(
      `case "$*" in *\\ create\\ *failing-*) echo 'runc: resource temporarily unavailable' >&2; exit 1;; esac`,
      async () => {
        await runtime().ensure(spec('failing', ['sleep', '60']))
        const failure =
          'Could not be started: its container could not be created. See the platform’s log for the reason.'
        expect((await hasEnded('failing'))?.exit).toMatchObject({ failure, isTemporary: true })
        const runc = join(root(), 'wrapping/runc')
        renameSync(runc, `${runc}-away`)
        await runtime().ensure(spec('without-runc', ['sleep', '60']))
        expect((await hasEnded('without-runc'))?.exit).toMatchObject({ failure, isTemporary: true })
        renameSync(`${runc}-away`, runc)
        await runtime().ensure(spec('no-program', ['no-such-program']))
        expect((await hasEnded('no-program'))?.exit?.isTemporary).toBeUndefined()
      },
    )
  })

  test('security 237: instances that were isolated do not become plain processes because a trial container fails', async () => {
    const isBroken = join(root(), 'containers-broken')
    await withRunc(
      `case "$*" in *\\ create\\ *trial-*) [ -e '${isBroken}' ] && { echo 'runc: no space left on device' >&2; exit 1; };; esac`,
      async () => {
        await runtime().ensure(spec('isolated', ['sleep', '60']))
        await until(
          () => find('isolated'),
          (run) => run?.state === 'RUNNING',
        )
        writeFileSync(isBroken, '')
        const paths = { directory: async (path: string) => path, peersFile: (podName: string) => podName }
        await expect(openRuntime({ ...settings(), isolation: 'auto', paths })).rejects.toThrow(
          /^Instances were isolated here before and cannot be now: a trial container did not work: .*no space left/,
        )
        expect((await find('isolated'))?.state).toBe('RUNNING')
        rmSync(isBroken)
      },
    )
  })

  test('if trial containers work without limits only, the reason is logged, and named where limits are shown', async () => {
    const warn = jest.spyOn(settings().log, 'warn')
    await withRunc(
      `case "$*" in *\\ create\\ *trial-*) for path; do grep -qs cgroupsPath "$path/config.json" && { echo 'runc: device busy' >&2; exit 1; }; done;; esac`,
      async () => {
        expect(runtime()).toMatchObject({
          isolation: 'contained',
          limits:
            'not enforced: a trial container with limits did not work, as where cgroups are not writable (see the platform’s log)',
          enforced: { cpu: false, memory: false },
        })
        expect(warn.mock.calls).toEqual([
          [
            { err: expect.objectContaining({ message: expect.stringContaining('device busy') }) },
            'a trial container with resource limits did not work: instances run without limits of CPU, memory and processes',
          ],
        ])
      },
    )
    warn.mockRestore()
  })

  describe('security 162: while a container cannot be removed, as without memory for another process,', () => {
    const failed = () => join(root(), 'removals-failed')
    const works = () => join(root(), 'removals-work')
    const failures = () => (existsSync(failed()) ? readFileSync(failed(), 'utf8').length : 0)
    const failing = (more = '') =>
      `${more} case "$*" in *\\ delete\\ *) [ -e '${works()}' ] || { printf x >> '${failed()}'; exit 1; };; esac`
    // The trial container of the runtime's start is removed.
    beforeEach(() => writeFileSync(works(), ''))
    afterEach(() => rmSync(failed(), { force: true }))

    test('an instance without its monitor counts as ended only when its program has ended', async () => {
      await withRunc(failing(), async () => {
        await runtime().ensure(spec('clinging', LASTING))
        await prints('clinging', 'Ready')
        const { monitor, pid } = recordOf('clinging')
        rmSync(works())
        process.kill(monitor!.pid, 'SIGKILL')
        await hasEnded('clinging')
        expect(isGone(pid!)).toBe(true)
        expect(failures()).toBeGreaterThan(0)
        writeFileSync(works(), '')
      })
    })

    test('an instance whose start is reported as failed counts as ended only when its program has ended', async () => {
      const programs = findContainerPrograms(process.env.PATH ?? '')
      const runc = 'runc' in programs ? programs.runc : ''
      const pidFile = join(dataDir(), 'runtime/contained/bundles/half-*/pid')
      const startFails = `case "$*" in *\\ start\\ half-*) '${runc}' "$@"; cat ${pidFile} > '${root()}/half.pid'; exit 1;; esac;`
      await withRunc(failing(startFails), async () => {
        rmSync(works())
        await runtime().ensure(spec('half', LASTING))
        const run = await hasEnded('half')
        expect(isGone(Number(readFileSync(join(root(), 'half.pid'), 'utf8')))).toBe(true)
        expect(run?.exit).toMatchObject({ requested: false, failure: expect.stringContaining('could not be created') })
        expect(failures()).toBeGreaterThan(0)
        writeFileSync(works(), '')
      })
    })

    test('its files are removed when that is possible again', async () => {
      const bundles = () => readdirSync(join(dataDir(), 'runtime/contained/bundles'))
      await withRunc(failing(`case "$*" in *\\ start\\ left-*) exit 1;; esac;`), async () => {
        await runtime().ensure(spec('lasting', LASTING))
        await prints('lasting', 'Ready')
        rmSync(works())
        await runtime().ensure(spec('left', LASTING))
        await hasEnded('left')
        expect(bundles().filter((name) => name.startsWith('left-'))).toHaveLength(1)
        writeFileSync(works(), '')
        await until(bundles, (names) => !names.some((name) => name.startsWith('left-')))
        expect((await find('lasting'))?.state).toBe('RUNNING')
        await runtime().kill('lasting')
        await hasEnded('lasting')
      })
    })
  })

  test('what is left of containers and trials after a kill of runc or of the platform is removed at the next start', async () => {
    const directory = join(dataDir(), 'runtime/contained')
    await runtime().ensure(spec('staying', LASTING))
    await prints('staying', 'Ready')
    const { cgroup } = recordOf('staying')
    const groups = cgroup === undefined ? [] : groupsOf(cgroup)
    const left = [
      ...groups.map((group) => join(dirname(group), 'ended-0a1b2c3d')),
      join(directory, 'trial-0123456789ab'),
      join(directory, 'logs/trial-0123456789ab.log'),
    ]
    const ofDeployment = join(directory, 'logs/trial-0a1b2c.log')
    await reopen(() => [...left, ofDeployment].forEach((path) => mkdirSync(path)))
    expect(existsSync(ofDeployment)).toBe(true)
    rmSync(ofDeployment, { recursive: true })
    expect(left.filter((path) => existsSync(path))).toEqual([])
    expect(groups.filter((group) => !existsSync(group))).toEqual([])
    expect(await find('staying')).toMatchObject({ state: 'RUNNING' })
    await runtime().kill('staying')
  })
})

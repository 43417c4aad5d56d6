import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeContained, useContainedRuntime } from '../../../support/platform/containedInstances'
import { canMount, mountTmpfs, remount, unmount } from '../../../support/platform/tmpfs'
import { until } from '../../../support/platform/until'

const testWithMounts = canMount ? test : test.skip

describeContained('the log of an instance (skipped without runc, conmon or socat)', () => {
  const { dataDir, runtime, spec, find, hasEnded, prints, reopen } = useContainedRuntime()
  const contained = (...names: string[]) => join(dataDir(), 'runtime/contained', ...names)
  const logOf = (podName: string) => contained('logs', `${podName}.log`)

  /** Answers commands, the command `flood` after more output than a log takes. */
  const PROGRAM = `
    console.log('Ready')
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      if (line === 'flood') for (let at = 0; at < 90_000; at++) console.log('x'.repeat(100))
      console.log('heard ' + line)
    })`

  /** Starts an instance. @returns a function that sends a command and waits until its response is seen live */
  async function start(podName: string): Promise<(command: string) => Promise<void>> {
    await runtime().ensure(spec(podName, ['node', '-e', PROGRAM]))
    await prints(podName, 'Ready')
    return async (command) => {
      const seen = new Set<string>()
      const end = await runtime().follow(podName, Infinity, (lines) =>
        lines.forEach(({ content }) => seen.add(content)),
      )
      await runtime().write(podName, command)
      await until(() => seen.has(`heard ${command}`), undefined, 10)
      end()
    }
  }

  test('security 224: a console goes on after the platform was killed in the middle of a rotation', async () => {
    const answers = await start('killed')
    await answers('one')
    await reopen(() => renameSync(logOf('killed'), `${logOf('killed')}.1`))
    await answers('two')
    await prints('killed', 'heard one')
    await reopen()
    await answers('three')
  })

  test('security 224: a console goes on after conmon could not be asked for a new log', async () => {
    const answers = await start('unasked')
    const control = contained('bundles', `unasked-${(await find('unasked'))!.runId.slice(0, 8)}`, 'ctl')
    renameSync(control, `${control}.away`)
    await answers('flood')
    renameSync(`${control}.away`, control)
    await answers('two')
    // There is no log between the two steps of a rotation.
    await until(() => (statSync(logOf('unasked'), { throwIfNoEntry: false })?.size ?? Infinity) < 2 ** 20)
    await answers('three')
  })

  testWithMounts('security 225: an instance goes on when the disk has no inode left for its next log', async () => {
    mountTmpfs(contained('logs'), '64m')
    try {
      const answers = await start('inodes')
      const full = contained('logs', 'full')
      mkdirSync(full)
      remount(contained('logs'), 'nr_inodes=10')
      const fill = () => {
        for (let at = 0; at < 10; at++) writeFileSync(join(full, String(at)), '')
      }
      expect(fill).toThrow('ENOSPC')
      const { runId } = (await find('inodes'))!
      for (const command of ['flood', 'two', 'flood', 'three']) await answers(command)
      expect(await find('inodes')).toMatchObject({ runId, state: 'RUNNING' })
      rmSync(full, { recursive: true })
      await answers('four')
      await runtime().kill('inodes')
      await hasEnded('inodes')
    } finally {
      unmount(contained('logs'))
    }
  })
})

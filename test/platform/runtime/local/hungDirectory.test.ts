import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openLocalRuntime } from '../../../../src/platform/runtime/local/localRuntime'
import { createReplicas } from '../../../../src/platform/share/replicas/replicas'
import { hungDiskMissing, mountDeadDisk, mountHungDisk } from '../../../support/platform/hungDisk'
import { localSpec } from '../../../support/platform/instanceSpec'
import { stopHost } from '../../../support/platform/stopHost'
import { useTemporaryDirectory } from '../../../support/platform/temporaryDirectory'
import { until } from '../../../support/platform/until'

const directory = useTemporaryDirectory()
const testHung = hungDiskMissing === undefined ? test : test.skip

testHung(
  'security 66: an instance whose directory hangs does not start, and the other plain instances are served meanwhile',
  async () => {
    const replicas = createReplicas(directory(), pino({ level: 'silent' }))
    const runtime = await openLocalRuntime({ dataDir: directory(), replicas })
    const hung = join(directory(), 'hung')
    const recover = mountHungDisk(hung)
    try {
      await runtime.ensure(localSpec({ podName: 'works', command: ['cat'], directory: directory() }))
      const starting = runtime.ensure(localSpec({ podName: 'hangs', command: ['cat'], directory: hung }))
      await runtime.write('works', 'are you there?')
      const output = () => runtime.history('works', 10)
      await until(output, (lines) => lines.some(({ content }) => content === 'are you there?'))
      expect(await runtime.list()).toContainEqual(expect.objectContaining({ podName: 'hangs', state: 'STARTING' }))
      await starting
      expect(await runtime.list()).toContainEqual(
        expect.objectContaining({
          podName: 'hangs',
          state: 'EXITED',
          exit: expect.objectContaining({
            failure:
              'Could not be started: its directory does not answer. If it is mounted over a network, check its server.',
          }),
        }),
      )
    } finally {
      recover()
      await runtime.close()
      await replicas.close()
      await stopHost(directory())
    }
  },
)

testHung(
  'a start in a directory whose mount is dead fails for a reason that passes, with and without a copy',
  async () => {
    const replicas = createReplicas(directory(), pino({ level: 'silent' }))
    const runtime = await openLocalRuntime({ dataDir: directory(), replicas })
    const dead = join(directory(), 'dead')
    const recover = mountDeadDisk(dead)
    try {
      for (const copy of [false, true]) {
        const podName = `copy-${copy}`
        await runtime
          .ensure({ ...localSpec({ podName, command: ['cat'], directory: dead }), copy })
          .catch(() => undefined)
        const found = () => runtime.list().then((all) => all.find((one) => one.podName === podName))
        await until(async () => (await found())?.state === 'EXITED')
        expect((await found())?.exit).toMatchObject({ isTemporary: true })
      }
    } finally {
      recover()
      await runtime.close()
      await replicas.close()
      await stopHost(directory())
    }
  },
)

test('a start while the instance is being started waits until it runs', async () => {
  const replicas = createReplicas(directory(), pino({ level: 'silent' }))
  const runtime = await openLocalRuntime({ dataDir: directory(), replicas })
  const spec = localSpec({ podName: 'twice', command: ['cat'], directory: directory() })
  try {
    void runtime.ensure(spec)
    await runtime.ensure(spec)
    expect(await runtime.list()).toContainEqual(expect.objectContaining({ podName: 'twice', state: 'RUNNING' }))
  } finally {
    await runtime.close()
    await replicas.close()
    await stopHost(directory())
  }
})

test('the launcher runs a program in its directory with its own arguments and environment', async () => {
  const replicas = createReplicas(directory(), pino({ level: 'silent' }))
  const runtime = await openLocalRuntime({ dataDir: directory(), replicas })
  const home = join(directory(), '-a "directory" $HOME')
  mkdirSync(home)
  try {
    const command: [string, ...string[]] = [
      'node',
      '-p',
      'JSON.stringify([process.cwd(), process.argv.slice(1), Object.keys(process.env)])',
      '--',
      'two words',
      '$(id)',
    ]
    await runtime.ensure(localSpec({ podName: 'arguments', command, directory: home }))
    const lines = await until(
      () => runtime.history('arguments', 10),
      (found) => found.length > 0,
    )
    const [cwd, args, names] = JSON.parse(lines[0]!.content) as [string, string[], string[]]
    expect(cwd).toBe(home)
    expect(args).toEqual(['two words', '$(id)'])
    expect(names).not.toContain('OLDPWD')
  } finally {
    await runtime.close()
    await replicas.close()
    await stopHost(directory())
  }
})

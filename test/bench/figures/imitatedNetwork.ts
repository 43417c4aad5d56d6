import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import type * as Config from '../../../src/platform/config'
import type * as CreatePlatform from '../../../src/platform/createPlatform'
import type { Runtime, RuntimeInstance } from '../../../src/platform/runtime/runtime'
import type { Closers } from '../../../src/platform/surroundings'
import { signUpByCalls } from '../../support/browser/productCalls'

/**
 * A program that serves the platform of a build with an imitated runtime, which starts no processes.
 * Arguments: the checkout, the number of deployments, the number of instances. It sends `{url, token}` when all run.
 */
const [root = '', deployments = '', instances = ''] = process.argv.slice(2)

/** Reports each instance as running as soon as it is started. */
function imitate(runtime: Runtime): Runtime {
  const runs = new Map<string, RuntimeInstance>()
  const listeners = new Set<() => void>()
  const replaced: Partial<Runtime> = {
    async ensure({ podName }) {
      if (runs.has(podName)) return
      runs.set(podName, {
        podName,
        runId: `run-${podName}`,
        state: 'RUNNING',
        ip: '10.0.0.1',
        port: undefined,
        // The uptime is shown in hours then, so that it does not change during the measurement.
        startedAt: Date.now() - 36_000_000,
        exit: undefined,
      })
      for (const listener of listeners) listener()
    },
    list: async () => [...runs.values()],
    sample: async () =>
      [...runs.values()].map(({ podName, runId }) => ({ podName, runId, cpuMs: 0, memoryBytes: 2 ** 28 })),
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    note: async () => undefined,
    stop: async (podName) => void runs.delete(podName),
    remove: async (podName) => void runs.delete(podName),
  }
  return Object.assign(Object.create(runtime) as Runtime, replaced)
}

async function main(): Promise<void> {
  const { createPlatform } = (await import(join(root, 'dist/platform/createPlatform.js'))) as typeof CreatePlatform
  const { readSettings } = (await import(join(root, 'dist/platform/config.js'))) as typeof Config
  const dataDir = await mkdtemp(join(tmpdir(), 'quarterdeck-bench-'))
  const closers: Closers = []
  const platform = await createPlatform(
    readSettings({ QUARTERDECK_DATA_DIR: dataDir, QUARTERDECK_SAMPLE: 'off', QUARTERDECK_ISOLATION: 'off' }),
    { log: pino({ level: 'error' }), closers, onLost: () => undefined },
    { wrapRuntime: imitate },
  )
  process.once('SIGTERM', () => {
    void (async () => {
      for (const close of closers.reverse()) await close()
      await rm(dataDir, { recursive: true, force: true })
      process.exit(0)
    })()
  })
  const url = await platform.app.listen({ host: '127.0.0.1', port: 0 })
  const inviteCode = await platform.registration.firstInvite(undefined)
  const { call, token } = await signUpByCalls({ url, inviteCode })
  const each = Number(instances) / Number(deployments)
  for (let number = 0; number < Number(deployments); number += 1) {
    const name = `d${number}`
    await call('POST', 'deployments', { name, type: 'scalable' })
    const content = `name: ${name}\ntype: scalable\ndataDirectory: /${name}\nrun: { command: [run] }\ninstances: { min: ${each}, max: ${each} }\n`
    await call('PATCH', `deployments/${name}`, { content })
    await call('POST', `deployments/${name}/toggle`, { enabled: true })
  }
  const running = async () =>
    (
      await call<{ deployments: { instances: { state: string }[] }[] }>('GET', 'deployments?instances=true')
    ).deployments.flatMap((one) => one.instances.filter(({ state }) => state === 'RUNNING')).length
  while ((await running()) < Number(instances)) await new Promise((resolve) => setTimeout(resolve, 200))
  process.send?.({ url, token })
}

void main()

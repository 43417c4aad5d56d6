import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openLocalRuntime } from '../../../src/platform/runtime/local/localRuntime'
import { withLocalPaths } from '../../../src/platform/runtime/localPaths'
import type { Runtime } from '../../../src/platform/runtime/runtime'
import { findDeploymentDirectory } from '../../../src/platform/share/deploymentDirectory'
import { createReplicas } from '../../../src/platform/share/replicas/replicas'
import { migratedDatabase } from './freshState'
import { startPlatform, type TestPlatform } from './startPlatform'
import { stopHost } from './stopHost'

export interface TestReplicas {
  one: TestPlatform
  two: TestPlatform
  /** Of all replicas, as a cluster is. */
  runtime: Runtime
  databaseUrl: string
  shareDir: string
  /** Starts another replica with a data directory of its own. @param key of its key file; undefined: none */
  start(name: string, key?: string): Promise<TestPlatform>
  close(): Promise<void>
}

/** Two replicas of the platform with one state, one shared area and one runtime, started at once. */
export async function startReplicas(directory: string, { sample = false } = {}): Promise<TestReplicas> {
  const { url: databaseUrl, drop } = await migratedDatabase()
  const shareDir = join(directory, 'nfsshare')
  const runtimeDir = join(directory, 'cluster')
  for (const path of [shareDir, join(runtimeDir, 'instances'), join(runtimeDir, 'replica')])
    mkdirSync(path, { recursive: true })
  const replicas = createReplicas(runtimeDir, pino({ level: 'silent' }))
  const runtime = withLocalPaths(await openLocalRuntime({ dataDir: runtimeDir, replicas }), {
    directory: (path) => findDeploymentDirectory({ shareDir }, path),
    peersFile: (podName) => join(runtimeDir, 'peers', podName, 'peers.json'),
  })
  const commonKey = randomBytes(32).toString('hex')
  const started: TestPlatform[] = []

  async function start(name: string, key: string | undefined = commonKey): Promise<TestPlatform> {
    const dataDir = join(directory, name)
    mkdirSync(dataDir, { recursive: true })
    if (key !== '') writeFileSync(join(dataDir, 'secret.key'), key)
    const platform = await startPlatform({
      dataDir,
      shareDir,
      databaseUrl,
      sample,
      overrides: {
        isReplica: true,
        wrapRuntime: () => Object.create(runtime, { close: { value: async () => undefined } }) as Runtime,
      },
    })
    let closing: Promise<void> | undefined
    const close = platform.close
    platform.close = () => (closing ??= close())
    started.push(platform)
    return platform
  }

  const [one, two] = await Promise.all([start('one'), start('two')])
  return {
    one,
    two,
    runtime,
    databaseUrl,
    shareDir,
    start,
    async close() {
      await Promise.all(started.map((platform) => platform.close()))
      await runtime.close()
      await replicas.close()
      await stopHost(runtimeDir)
      await drop()
    },
  }
}

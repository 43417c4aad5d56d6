import { join } from 'node:path'
import type { LocalPaths } from '../../../src/platform/runtime/localPaths'
import type { InstanceSpec, LocalSpec } from '../../../src/platform/runtime/runtime'

/** Paths of a shared area for `withLocalPaths`. */
export const pathsIn = (shareDir: () => string): LocalPaths => ({
  directory: async (path) => join(shareDir(), path),
  peersFile: (podName) => join(shareDir(), `${podName}.json`),
})

/** A program for `node -e` that answers its standard input, as a game server would. */
export const ANSWERING_PROGRAM = `
  console.log('Ready')
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    if (line === 'stop') process.exit(0)
    if (line === 'crash') process.exit(3)
    console.log('heard ' + line)
  })`

const MINIMAL = {
  copy: false,
  env: {},
  port: undefined,
  ready: undefined,
  stop: { command: undefined, timeoutSeconds: 1 },
  limits: { cores: undefined, memoryBytes: undefined },
}

/** A minimal instance for any runtime, with the given changes. */
export const instanceSpec = (
  given: Pick<InstanceSpec, 'podName' | 'command'> & Partial<InstanceSpec>,
): InstanceSpec => ({
  ...MINIMAL,
  deployment: 'suite',
  image: undefined,
  node: undefined,
  dataDirectory: '/suite',
  mounts: [],
  hasPeers: false,
  ...given,
})

/** A minimal instance for a driver of this machine, with the given changes. */
export const localSpec = (
  given: Pick<LocalSpec, 'podName' | 'command' | 'directory'> & Partial<LocalSpec>,
): LocalSpec => ({ ...MINIMAL, deployment: given.podName, ...given })

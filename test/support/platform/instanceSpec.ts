import { join } from 'node:path'
import type { LocalPaths } from '../../../src/platform/runtime/localPaths'
import type { LocalSpec } from '../../../src/platform/runtime/runtime'

/** Paths of a shared area for `withLocalPaths`. */
export const pathsIn = (shareDir: () => string): LocalPaths => ({
  directory: async (path) => join(shareDir(), path),
  peersFile: (podName) => join(shareDir(), `${podName}.json`),
})

/** A minimal instance for a runtime, with the given changes. */
export const instanceSpec = (
  given: Pick<LocalSpec, 'podName' | 'command' | 'directory'> & Partial<LocalSpec>,
): LocalSpec => ({
  deployment: given.podName,
  copy: false,
  env: {},
  port: undefined,
  ready: undefined,
  stop: { command: undefined, timeoutSeconds: 1 },
  limits: { cores: undefined, memoryBytes: undefined },
  ...given,
})

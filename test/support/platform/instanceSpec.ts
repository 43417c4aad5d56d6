import type { InstanceSpec } from '../../../src/platform/runtime/runtime'

/** What a test asks a runtime to run; what it does not name is as plain as can be. */
export const instanceSpec = (
  given: Pick<InstanceSpec, 'podName' | 'command' | 'directory'> & Partial<InstanceSpec>,
): InstanceSpec => ({
  deployment: given.podName,
  copy: false,
  env: {},
  port: undefined,
  ready: undefined,
  stop: { command: undefined, timeoutSeconds: 1 },
  limits: { cores: undefined, memoryBytes: undefined },
  ...given,
})

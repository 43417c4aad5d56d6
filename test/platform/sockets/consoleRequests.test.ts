import type { Runtime } from '../../../src/platform/runtime/runtime'
import { executeConsoleRequest } from '../../../src/platform/sockets/consoleRequests'

type RequestParameters = globalThis.Parameters<typeof executeConsoleRequest>

/** Sends a command to a running instance that does not accept input. @returns the message of the failure */
async function refusedCommand(isReplica: boolean): Promise<string> {
  const runtime = {
    note: async () => undefined,
    write: async () => false,
    list: async () => [{ podName: 'pod-1', state: 'RUNNING' }],
  } as unknown as Runtime
  const parts = { runtime, isReplica, records: { add: () => undefined } } as unknown as RequestParameters[0]
  const instance = {
    podName: 'pod-1',
    deployment: 'one',
    viewers: new Map(),
    state: 'RUNNING',
  } as unknown as RequestParameters[1]
  const user = { username: 'ann', address: '127.0.0.1' } as unknown as RequestParameters[2]
  return executeConsoleRequest(parts, instance, user, '{"type":"command","command":"help"}').then(
    () => 'accepted',
    ({ message }: Error) => message,
  )
}

test('a command that cannot be written to a running instance is refused with the reason', async () => {
  expect(await refusedCommand(false)).toBe('The instance does not read its input.')
})

test('decisions §15: in a cluster, the reason also names the node', async () => {
  expect(await refusedCommand(true)).toBe(
    'The input did not reach the instance: its node does not answer, or it does not read its input.',
  )
})

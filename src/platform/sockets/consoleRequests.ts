import { COMMAND_NOT_SHOWN, commandNote } from '../../contract/sockets/commandNote'
import { ConsoleRequest } from '../../contract/sockets/consoleChannel'
import { looksSecret } from '../../contract/secrets/secretCommands'
import type { Power } from '../deployments/power'
import { requireRight } from '../caller'
import { AppError } from '../errors'
import type { Runtime } from '../runtime/runtime'
import type { ConsoleRecord } from './consoleRecord'
import type { ViewerUser, WatchedInstance } from './watchedInstances'

export interface ConsoleRequestParts {
  runtime: Runtime
  power: Power
  records: ConsoleRecord
  /** Whether there may be viewers that this platform does not know. */
  isReplica: boolean
}

/**
 * Executes a viewer's message, a command or a power request, and records whether it succeeded.
 * @throws AppError INVALID_INPUT, NOT_ALLOWED, or CONFLICT if the instance does not take commands, or as
 * `Power.request`
 */
export async function executeConsoleRequest(
  { runtime, power, records, isReplica }: ConsoleRequestParts,
  instance: WatchedInstance,
  user: ViewerUser,
  text: string,
): Promise<void> {
  const { podName, deployment } = instance
  const request = ConsoleRequest.safeParse(parseJson(text)).data
  if (!request) throw new AppError('INVALID_INPUT', 'This is not a valid console request.')
  const { username, address, key } = user
  const record = (succeeded: boolean) =>
    records.add({ username, address, apiKey: key?.name ?? null, deployment, podName, request, succeeded })
  try {
    requireRight(user, request.type === 'power' ? 'power' : 'console', deployment)
    if (request.type === 'power') await power.request(podName, request.action)
    else await sendCommand({ runtime, isReplica }, instance, user, request.command)
  } catch (error) {
    record(false)
    throw error
  }
  record(true)
}

/** The `ref` of a valid request that wants a response. */
export const refOf = (text: string): string | undefined => ConsoleRequest.safeParse(parseJson(text)).data?.ref

async function sendCommand(
  { runtime, isReplica }: Pick<ConsoleRequestParts, 'runtime' | 'isReplica'>,
  { podName, viewers, state }: WatchedInstance,
  user: ViewerUser,
  command: string,
): Promise<void> {
  const isShared = isReplica || new Set([...viewers.values()].map(({ userId }) => userId)).size > 1
  if (isShared && state !== 'STOPPED' && state !== 'BLOCKED') {
    // Shows the other viewers who sent the command, dimmed.
    await runtime.note(podName, commandNote(user.username, showable(command)))
  }
  if (await runtime.write(podName, command.replaceAll(/[\r\n\0]/g, ' '))) return
  const isRunning = (await runtime.list()).some((run) => run.podName === podName && run.state !== 'EXITED')
  if (!isRunning) throw new AppError('CONFLICT', 'The instance is not running.')
  // In a cluster, a node that does not answer cannot be distinguished from a program that does not read its input.
  const reason = isReplica
    ? 'The input did not reach the instance: its node does not answer, or it does not read its input.'
    : 'The instance does not read its input.'
  throw new AppError('CONFLICT', reason)
}

/** Hides a command that looks like it contains a secret from other viewers. */
function showable(command: string): string {
  return looksSecret(command) ? COMMAND_NOT_SHOWN : command
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

import type { ConsoleRequest } from '../../contract/sockets/consoleChannel'
import { maskCommand } from '../../contract/secrets/maskCommand'
import type { ActivityLog } from '../accounts/activityLog'
import type { ActivityRecord } from '../state/accounts/activity'

/** A request at a console and its user. */
export interface ConsoleAction {
  username: string
  address: string
  /** The name of the API key that was used; null for a session. */
  apiKey: string | null
  deployment: string
  podName: string
  request: ConsoleRequest
  succeeded: boolean
}

export interface ConsoleRecord {
  /** Never waits and never fails. */
  add(consoleAction: ConsoleAction): void
  /** Resolves when everything was passed to the activity log. */
  close(): Promise<void>
}

/**
 * Limit of requests that wait for definitions while the database is slow. Further ones are recorded at once, and their
 * commands are masked as if none were harmless.
 */
const MAX_WAITING = 500

const powerWords = {
  start: 'started instance',
  stop: 'stopped instance',
  restart: 'restarted instance',
  kill: 'killed instance',
  drainAndStop: 'drained and stopped instance',
  drainAndRestart: 'drained and restarted instance',
} as const

/**
 * Records the requests at consoles in their order.
 * @param plainCommands first words of commands that a deployment's definition calls harmless. If it fails, none are.
 */
export function createConsoleRecord(
  activityLog: Pick<ActivityLog, 'record'>,
  plainCommands: (deployment: string) => Promise<readonly string[]>,
): ConsoleRecord {
  const waiting: ConsoleAction[] = []
  let working: Promise<void> | undefined

  /** Processes the queue in batches, which read each definition once. */
  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const consoleActions = [...waiting]
      const plain = new Map<string, readonly string[]>()
      for (const { deployment, request } of consoleActions) if (request.type === 'command') plain.set(deployment, [])
      await Promise.all(
        [...plain.keys()].map(async (deployment) =>
          plain.set(deployment, await plainCommands(deployment).catch(() => [])),
        ),
      )
      waiting.splice(0, consoleActions.length)
      for (const consoleAction of consoleActions)
        activityLog.record(toActivity(consoleAction, plain.get(consoleAction.deployment) ?? []))
    }
  }

  return {
    add(consoleAction) {
      if (waiting.length >= MAX_WAITING) return activityLog.record(toActivity(consoleAction, []))
      waiting.push(consoleAction)
      working ??= work().finally(() => (working = undefined))
    },
    async close() {
      await working
    },
  }
}

function toActivity(
  { username, address, apiKey: api_key, podName, request, succeeded }: ConsoleAction,
  plain: readonly string[],
): ActivityRecord {
  if (request.type === 'power')
    return {
      username,
      address,
      api_key,
      succeeded,
      kind: 'power',
      action: powerWords[request.action],
      subject: podName,
    }
  return {
    username,
    address,
    api_key,
    succeeded,
    kind: 'command',
    action: 'sent command',
    subject: `${podName}: ${maskCommand(request.command, plain)}`,
  }
}

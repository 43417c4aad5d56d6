import type { ConsoleRequest } from '../../contract/consoleChannel'
import { maskCommand } from '../../contract/maskCommand'
import type { ActivityLog, Happening } from '../accounts/activityLog'

/** What was done at a console, and by whom. */
export interface ConsoleDeed {
  username: string
  address: string
  deployment: string
  podName: string
  request: ConsoleRequest
  succeeded: boolean
}

export interface ConsoleRecord {
  /** Never waits and never fails. */
  add(deed: ConsoleDeed): void
  /** Resolves when all is handed to the activity log. */
  close(): Promise<void>
}

/**
 * So many deeds wait for definitions at the most, while the state answers slowly or not at all. What comes then is recorded at once, as
 * commands of which nothing is known to be harmless.
 */
const MOST_WAITING = 500

const powerWords = {
  start: 'started instance',
  stop: 'stopped instance',
  restart: 'restarted instance',
  kill: 'killed instance',
  drainAndStop: 'drained and stopped instance',
  drainAndRestart: 'drained and restarted instance',
} as const

/**
 * Records what is done at consoles, in the order in which it was done.
 * @param plainCommands first words of commands that a deployment's definition calls harmless. Where it fails, none is.
 */
export function createConsoleRecord(
  activityLog: Pick<ActivityLog, 'record'>,
  plainCommands: (deployment: string) => Promise<readonly string[]>,
): ConsoleRecord {
  const waiting: ConsoleDeed[] = []
  let working: Promise<void> | undefined

  /** All that waits at a time: each definition is asked once for it. */
  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const deeds = [...waiting]
      const plain = new Map<string, readonly string[]>()
      for (const { deployment, request } of deeds) if (request.type === 'command') plain.set(deployment, [])
      await Promise.all(
        [...plain.keys()].map(async (deployment) =>
          plain.set(deployment, await plainCommands(deployment).catch(() => [])),
        ),
      )
      waiting.splice(0, deeds.length)
      for (const deed of deeds) activityLog.record(happeningOf(deed, plain.get(deed.deployment) ?? []))
    }
  }

  return {
    add(deed) {
      if (waiting.length >= MOST_WAITING) return activityLog.record(happeningOf(deed, []))
      waiting.push(deed)
      working ??= work().finally(() => (working = undefined))
    },
    async close() {
      await working
    },
  }
}

function happeningOf(
  { username, address, podName, request, succeeded }: ConsoleDeed,
  plain: readonly string[],
): Happening {
  if (request.type === 'power')
    return { username, address, succeeded, kind: 'power', action: powerWords[request.action], subject: podName }
  return {
    username,
    address,
    succeeded,
    kind: 'command',
    action: 'sent command',
    subject: `${podName}: ${maskCommand(request.command, plain)}`,
  }
}

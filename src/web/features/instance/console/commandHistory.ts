import { HIDDEN, maskCommand } from '../../../../contract/secrets/maskCommand'
import { looksSecret } from '../../../../contract/secrets/secretCommands'
import type { Services } from '../../../app/services'
import { userOf } from '../../../drafts/userOf'
import type { Session } from '../../../facts'

const KEY = 'console-history'
/** Number of instances whose history is kept, the most recent ones, of all users. */
const MAX_PODS = 30

type Storage = Services['storage']

/** The commands of one user: they may hold what the next user of the browser must not see. */
type History = [podName: string, commands: string[], user: string]

/** Returns the commands that the user sent to an instance from this browser, oldest first. */
export const readCommands = (storage: Storage, session: Session | null, podName: string): string[] =>
  readAll(storage).find(isOf(podName, userOf(session)))?.[1] ?? []

/** Whether a text may contain a secret, or is not a command, such as the answer to a password prompt. */
const mayBeSecret = (command: string) => looksSecret(command) || maskCommand(command).startsWith(HIDDEN)

/** Stores the commands of an instance, except those that may hold a secret. */
export function keepCommands(storage: Storage, session: Session | null, podName: string, commands: readonly string[]) {
  const user = userOf(session)
  if (user === undefined) return
  const isSame = isOf(podName, user)
  const others = readAll(storage).filter((history) => !isSame(history))
  const kept: History[] = [...others, [podName, commands.filter((command) => !mayBeSecret(command)), user]]
  storage.setItem(KEY, JSON.stringify(kept.slice(-MAX_PODS)))
}

const isOf =
  (podName: string, user: string | undefined) =>
  ([pod, , owner]: History) =>
    pod === podName && owner === user

function readAll(storage: Storage): History[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isHistory) : []
  } catch {
    return []
  }
}

/** False for an entry of an earlier version, which does not name its user. */
const isHistory = (entry: unknown): entry is History =>
  Array.isArray(entry) &&
  typeof entry[0] === 'string' &&
  Array.isArray(entry[1]) &&
  entry[1].every((command) => typeof command === 'string') &&
  typeof entry[2] === 'string'

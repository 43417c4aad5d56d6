import { HIDDEN, maskCommand } from '../../../../contract/secrets/maskCommand'
import { looksSecret } from '../../../../contract/secrets/secretCommands'
import type { Services } from '../../../app/services'

const KEY = 'console-history'
/** Number of instances whose history is kept, the most recent ones. */
const MAX_PODS = 30

type Storage = Services['storage']

/** Returns the commands that this browser sent to an instance, oldest first. */
export const readCommands = (storage: Storage, podName: string): string[] =>
  readAll(storage).find(([pod]) => pod === podName)?.[1] ?? []

/** Whether a text may contain a secret, or is not a command, such as the answer to a password prompt. */
const mayBeSecret = (command: string) => looksSecret(command) || maskCommand(command).startsWith(HIDDEN)

/** Stores the commands of an instance, except those that may hold a secret. */
export function keepCommands(storage: Storage, podName: string, commands: readonly string[]) {
  const others = readAll(storage).filter(([pod]) => pod !== podName)
  const kept = [...others, [podName, commands.filter((command) => !mayBeSecret(command))]]
  storage.setItem(KEY, JSON.stringify(kept.slice(-MAX_PODS)))
}

function readAll(storage: Storage): [string, string[]][] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isHistory) : []
  } catch {
    return []
  }
}

const isHistory = (entry: unknown): entry is [string, string[]] =>
  Array.isArray(entry) &&
  typeof entry[0] === 'string' &&
  Array.isArray(entry[1]) &&
  entry[1].every((command) => typeof command === 'string')

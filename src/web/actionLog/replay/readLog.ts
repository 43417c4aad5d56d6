import type { ActionLog } from '../../../contract/actionLog'
import {
  ACTION_LOG_MAX_BYTES,
  ACTION_LOG_MAX_DEPTH,
  ACTION_LOG_VERSION,
  ActionLog as Schema,
} from '../../../contract/actionLog'
import { formatBytes } from '../../ui/formatBytes'
import { FORBIDDEN_NAME, hasForbiddenName } from './forbiddenName'
import { hashOf } from './hash'

/** The error for a file that cannot be replayed. The message is shown to the user. */
export class LogFault extends Error {}

/** Checks the size of a file before it is read. @throws LogFault if it exceeds the limit. */
export function checkSize(bytes: number): void {
  if (bytes > ACTION_LOG_MAX_BYTES)
    throw new LogFault(
      `The size of the file is ${formatBytes(bytes)}. An action log has at most ${formatBytes(ACTION_LOG_MAX_BYTES)}.`,
    )
}

/**
 * Parses and validates a file. @throws LogFault if it is not an action log of this version, or if its final state does
 * not match its hash.
 */
export function readLog(content: string): ActionLog {
  // Some editors add a byte order mark.
  const text = content.replace(/^\uFEFF/, '')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new LogFault(
      text.trim() === ''
        ? 'The file is empty.'
        : `The file is not valid JSON, or it is incomplete: ${placeOf(error, text)}.`,
    )
  }
  const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown }
  if (format !== 'quarterdeck-action-log')
    throw new LogFault('This is not an action log: the entry "format": "quarterdeck-action-log" is missing.')
  if (version !== ACTION_LOG_VERSION)
    throw new LogFault(
      `The file has version ${JSON.stringify(version)?.slice(0, 40)}, but this console reads version ${ACTION_LOG_VERSION}.`,
    )
  if (isDeeperThan(value, ACTION_LOG_MAX_DEPTH))
    throw new LogFault(`The file is damaged: its values are nested deeper than ${ACTION_LOG_MAX_DEPTH} levels.`)
  if (hasForbiddenName(value))
    throw new LogFault(`The file is damaged: it contains the forbidden name ${FORBIDDEN_NAME}.`)
  const result = Schema.safeParse(value)
  if (!result.success) {
    const { path, message } = result.error.issues[0] ?? { path: [], message: 'it is not valid' }
    throw new LogFault(`The file is damaged at ${path.map(String).join('.') || 'its top'}: ${message}.`)
  }
  if (hashOf(result.data.final) !== result.data.hash)
    throw new LogFault('The file is damaged at final: the state does not match its hash.')
  return result.data
}

function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : ''
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
  const before = text.slice(0, position).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

/** Checks level by level, because recursion into a deeply nested value would overflow the stack. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? (Object.values(one) as unknown[]) : []))
  }
  return false
}

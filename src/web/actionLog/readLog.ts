import type { ActionLog } from '../../contract/actionLog'
import { ACTION_LOG_VERSION, ActionLog as Schema } from '../../contract/actionLog'
import { hashOf } from './hash'

/** Says what is wrong with a file, for people. */
export class LogFault extends Error {}

/** @throws LogFault for what is not an action log of this version, or was changed since it was written. */
export function readLog(text: string): ActionLog {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new LogFault(text.trim() === '' ? 'The file is empty.' : `This is not JSON, or it was cut off: ${placeOf(error, text)}.`)
  }
  const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown }
  if (format !== 'quarterdeck-action-log') throw new LogFault('This is not an action log: it does not say "format": "quarterdeck-action-log".')
  if (version !== ACTION_LOG_VERSION) throw new LogFault(`The file is of version ${JSON.stringify(version)}; this console reads version ${ACTION_LOG_VERSION}.`)
  const result = Schema.safeParse(value)
  if (!result.success) {
    const { path, message } = result.error.issues[0] ?? { path: [], message: 'it is not valid' }
    throw new LogFault(`The file is damaged at ${path.map(String).join('.') || 'its top'}: ${message}.`)
  }
  if (hashOf(result.data.final) !== result.data.hash) throw new LogFault('The file is damaged at final: the state does not match its hash.')
  return result.data
}

function placeOf(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : ''
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
  const before = text.slice(0, position).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

/** Undefined where there is nothing to warn of. */
export const buildWarning = (log: ActionLog, build: string) =>
  log.build === build ? undefined : `Recorded with build ${log.build}; this is ${build}. What differs may be the difference between the two.`

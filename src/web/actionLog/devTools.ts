import { maskLine } from '../../contract/secrets/maskCommand'
import { allLines, type LineBuffer } from '../sockets/lineBuffer'
import { redactAction } from './redactAction'
import { callRules, stateRules } from './redaction'
import type { State } from './steps'
import { fields, redact } from './rule'

/** Longer lists and texts are summed up: DevTools copies all of it with every action. */
const LONGEST_LIST = 50
const LONGEST_TEXT = 2000

/** An action as Redux DevTools show it: redacted as in the action log, and short. */
export const showAction = <Action extends { type: string }>(action: Action): Action => {
  const plain = redactAction(action)
  return (plain ? brief(plain) : { type: action.type }) as Action
}

type Call = { endpointName?: string; originalArgs?: unknown; data?: unknown; error?: unknown }

/** Its text may quote what was sent, which a mutation's state no longer has: nobody could look for it there. */
const quietFailure = fields({ status: 'keep', code: 'keep', field: 'keep', line: 'keep' })

/** The state as Redux DevTools show it. */
export function showState(state: State): State {
  return Object.fromEntries(
    Object.entries(state).map(([name, part]) => {
      if (name === 'api') return [name, showApi(part as Record<string, unknown>)]
      if (name === 'console')
        return [name, { ...(part as object), buffer: showLines((part as { buffer: LineBuffer }).buffer) }]
      return [name, brief(redact(part, stateRules[name] ?? 'keep'))]
    }),
  )
}

function showApi(api: Record<string, unknown>) {
  const calls = (entries: unknown) =>
    Object.fromEntries(
      Object.values(entries as Record<string, Call>).map((call, index) => {
        const { args, result } = callRules[call.endpointName ?? ''] ?? { args: 'mask', result: 'mask' }
        const { originalArgs, data, error } = call
        return [
          `${call.endpointName} ${index}`,
          brief({
            ...call,
            originalArgs: redact(originalArgs, args),
            data: redact(data, result),
            error: redact(error, args === 'keep' ? 'keep' : quietFailure),
          }),
        ]
      }),
    )
  return { queries: calls(api.queries), mutations: calls(api.mutations), config: api.config }
}

function showLines(buffer: LineBuffer) {
  const lines = allLines(buffer)
  return { lines: lines.length, last: lines.slice(-3).map(({ content }) => maskLine(content)) }
}

function brief(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}… (${value.length} characters)` : value
  if (Array.isArray(value)) {
    const shown = value.slice(0, LONGEST_LIST).map(brief)
    return value.length > LONGEST_LIST ? [...shown, `… ${value.length - LONGEST_LIST} more`] : shown
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, brief(inner)]))
}

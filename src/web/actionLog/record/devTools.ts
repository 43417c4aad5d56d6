import { maskCommand, maskOutput } from '../../../contract/secrets/maskCommand'
import type { ConsoleState } from '../../sockets/consoleSlice'
import { allLines, COMMAND_MARK, type ConsoleLine, type LineBuffer } from '../../sockets/lineBuffer'
import { redactAction } from '../redact/redactAction'
import { callRules } from '../redact/redaction'
import { stateRules } from '../redact/stateRules'
import type { State } from '../replay/steps'
import { fields, redact } from '../redact/rule'

/** Limits of lists and texts, because Redux DevTools copy the whole state with every action. */
const LONGEST_LIST = 50
const LONGEST_TEXT = 2000

/** Redacts an action for Redux DevTools like the action log, and shortens it. */
export const showAction = <Action extends { type: string }>(action: Action): Action => {
  const plain = redactAction(action)
  return (plain ? brief(plain) : { type: action.type }) as Action
}

type Call = { endpointName?: string; originalArgs?: unknown; data?: unknown; error?: unknown }

/**
 * The rule for failures of calls with masked arguments. Masks the message, because it may quote the arguments. They
 * cannot be searched for, because the state of a mutation does not contain them.
 */
const quietFailure = fields({ status: 'keep', code: 'keep', field: 'keep', line: 'keep' })

/** Redacts and shortens the state for Redux DevTools. */
export function showState(state: State): State {
  return Object.fromEntries(
    Object.entries(state).map(([name, part]) => {
      if (name === 'api') return [name, showApi(part as Record<string, unknown>)]
      if (name === 'console') return [name, showConsole(part as ConsoleState)]
      if (name === 'consolePanes')
        return [
          name,
          Object.fromEntries(
            Object.entries(part as object).map(([pane, state]) => [pane, showConsole(state as ConsoleState)]),
          ),
        ]
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

const showConsole = (state: ConsoleState) => ({ ...state, submitted: null, buffer: showLines(state.buffer) })

function showLines(buffer: LineBuffer) {
  const lines = allLines(buffer)
  return { lines: lines.length, last: lines.slice(-3).map(maskedLine) }
}

const maskedLine = (line: ConsoleLine) =>
  line.type === 'command' ? COMMAND_MARK + maskCommand(line.content.slice(COMMAND_MARK.length)) : maskOutput(line)

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

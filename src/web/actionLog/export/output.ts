import { allLines, lengthOf, type LineBuffer } from '../../sockets/lineBuffer'
import type { PackedLines } from '../record/lines'
import type { PlainAction } from '../redact/redactAction'
import type { State } from '../replay/steps'

type Changed = { base: State; actions: (PlainAction & { at: number })[] }
type Line = { type?: string; content: string }
type Query = { endpointName?: string; data?: unknown }

/**
 * Applies `change` to all console output of a recording: lines of consoles and the last lines before a crash. The echo
 * of a command does not count as output: it is masked like the command (typedPlaces.ts).
 */
export function changeOutput<Recorded extends Changed>(
  recording: Recorded,
  change: (text: string) => string,
): Recorded {
  const lineOf = <L extends Line>(line: L): L =>
    line.type === 'command' ? line : { ...line, content: change(line.content) }
  const capsuleOf = (capsule: unknown) => {
    const { lines } = (capsule ?? {}) as { lines?: Line[] }
    return lines ? { ...(capsule as object), lines: lines.map(lineOf) } : capsule
  }

  const bufferOf = (buffer: LineBuffer): LineBuffer => {
    const changed = { ...buffer, blocks: buffer.blocks.map((block) => block.map(lineOf)) }
    return { ...changed, length: lengthOf(allLines(changed)) }
  }

  const actionOf = (action: Recorded['actions'][number]) => {
    const { type, payload, meta } = action
    if (type === 'console/linesReceived') {
      // The first letter is the type of the line. A number stands for omitted lines.
      return {
        ...action,
        payload: (payload as PackedLines).map((line) =>
          typeof line === 'string' ? line.slice(0, 1) + change(line.slice(1)) : line,
        ),
      }
    }
    const isCapsule = (meta as { arg?: Query } | undefined)?.arg?.endpointName === 'getCrashCapsule'
    return isCapsule && type.endsWith('/fulfilled') ? { ...action, payload: capsuleOf(payload) } : action
  }

  const consoleOf = <Console extends { buffer: LineBuffer }>(state: Console): Console => ({
    ...state,
    buffer: bufferOf(state.buffer),
  })

  const { console, consolePanes, api } = recording.base as {
    console?: { buffer: LineBuffer }
    consolePanes?: Record<string, { buffer: LineBuffer }>
    api?: { queries?: Record<string, Query> }
  }
  const queries = Object.entries(api?.queries ?? {}).map(
    ([key, query]) =>
      [key, query.endpointName === 'getCrashCapsule' ? { ...query, data: capsuleOf(query.data) } : query] as const,
  )
  const base = {
    ...recording.base,
    ...(console && { console: consoleOf(console) }),
    ...(consolePanes && {
      consolePanes: Object.fromEntries(Object.entries(consolePanes).map(([pane, state]) => [pane, consoleOf(state)])),
    }),
    ...(api && { api: { ...api, queries: Object.fromEntries(queries) } }),
  }
  return { ...recording, base, actions: recording.actions.map(actionOf) }
}

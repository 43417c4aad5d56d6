import { allLines, lengthOf, type LineBuffer } from '../../sockets/lineBuffer'
import type { PackedLines } from '../record/packedLines'
import type { PlainAction } from '../redact/redactAction'
import type { State } from '../replay/steps'

type Changed = { base: State; actions: (PlainAction & { at: number })[] }
type Line = { type?: string; content: string }
type Query = { endpointName?: string; data?: unknown }

/** Replaces a line of output. */
export const LEFT_OUT = '…'

/**
 * Applies `change` to all console output of a recording: lines of consoles, and lines of crash capsules. The echo of a
 * command does not count as output: it is masked like the command (typedPlaces.ts).
 *
 * @param change called with each line and the id of its console or capsule. Lines of several consoles alternate.
 */
export function changeOutput<Recorded extends Changed>(
  recording: Recorded,
  change: (text: string, source: string) => string,
): Recorded {
  const changeLines = <L extends Line>(lines: readonly L[], source: string): L[] =>
    lines.map((line) => (line.type === 'command' ? line : { ...line, content: change(line.content, source) }))
  let capsules = 0
  const capsuleOf = (capsule: unknown) => {
    const { lines } = (capsule ?? {}) as { lines?: Line[] }
    return lines ? { ...(capsule as object), lines: changeLines(lines, `capsule ${capsules++}`) } : capsule
  }

  const bufferOf = (buffer: LineBuffer, pane: string): LineBuffer => {
    const changed = { ...buffer, blocks: buffer.blocks.map((block) => changeLines(block, pane)) }
    return { ...changed, length: lengthOf(allLines(changed)) }
  }

  const actionOf = (action: Recorded['actions'][number]) => {
    const { type, payload, meta } = action
    if (type === 'console/linesReceived') {
      const pane = String((meta as { pane?: number } | undefined)?.pane ?? '')
      // The first letter is the type of the line. A number counts omitted lines.
      return {
        ...action,
        payload: (payload as PackedLines).map((line) =>
          typeof line === 'string' ? line.slice(0, 1) + change(line.slice(1), pane) : line,
        ),
      }
    }
    const isCapsule = (meta as { arg?: Query } | undefined)?.arg?.endpointName === 'getCrashCapsule'
    return isCapsule && type.endsWith('/fulfilled') ? { ...action, payload: capsuleOf(payload) } : action
  }

  const consoleOf = <Console extends { buffer: LineBuffer }>(state: Console, pane = ''): Console => ({
    ...state,
    buffer: bufferOf(state.buffer, pane),
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
      consolePanes: Object.fromEntries(
        Object.entries(consolePanes).map(([pane, state]) => [pane, consoleOf(state, pane)]),
      ),
    }),
    ...(api && { api: { ...api, queries: Object.fromEntries(queries) } }),
  }
  return { ...recording, base, actions: recording.actions.map(actionOf) }
}

/**
 * Applies `change` once to all lines of console output. Lines of the same console follow one another, because a secret
 * may be split across them. If `change` returns undefined, all lines are left out.
 */
export function changeAllOutput<Recorded extends Changed>(
  recording: Recorded,
  change: (lines: readonly string[]) => string[] | undefined,
): Recorded {
  const bySource = new Map<string, string[]>()
  changeOutput(recording, (line, source) => {
    const known = bySource.get(source)
    if (known) known.push(line)
    else bySource.set(source, [line])
    return line
  })
  const changed = change([...bySource.values()].flat())
  const next = new Map<string, number>()
  let first = 0
  for (const [source, { length }] of bySource) {
    next.set(source, first)
    first += length
  }
  return changeOutput(recording, (_line, source) => {
    const at = next.get(source) ?? 0
    next.set(source, at + 1)
    return changed?.[at] ?? LEFT_OUT
  })
}

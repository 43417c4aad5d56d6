import { setTimeout as delay } from 'node:timers/promises'
import { AccountResponse } from '../../contract/access'
import type { ConsoleFrame } from '../../contract/sockets/consoleChannel'
import { CLOSE_SESSION_ENDED } from '../../contract/pageRules'
import { dataOf, type Api } from '../api/client'
import { openConsole, type ConsoleChannel } from '../consoleChannel'
import { CliError, EXIT } from '../failure'
import type { Session } from '../session'
import { findInstance } from '../targets'
import type { Terminal } from '../terminal/terminal'

/** The number of lines that the channel sends by default. */
const DEFAULT_HISTORY = 1000
/** Maximum number of history lines, because the lines of a busy console never end. No console stores more. */
const MAX_HISTORY = 20_000
const BACKOFF_MS = { first: 250, longest: 15_000 }

type Entry =
  | { type: 'line'; seq: number; stream: 'message' | 'error' | 'system'; content: string }
  | { type: 'gap'; lines: number }
  | { type: 'state'; state: string }
  | { type: 'notice'; content: string }

/** Prints the last lines of a console and, with `follow`, new ones. */
export async function logs(
  { terminal, api }: Session,
  { name, follow, lines }: { name: string; follow: boolean; lines: number },
): Promise<void> {
  const target = await findInstance(api, name)
  await requireConsole(api, target.deployment)
  let next: number | undefined
  let kept: Entry[] | undefined = []
  let received = 0
  let channel: ConsoleChannel | undefined

  const onFrame = (frame: ConsoleFrame) => {
    const entries = entriesOf(frame, next)
    const last = entries.findLast((entry) => entry.type === 'line')
    if (last) next = last.seq + 1
    received += entries.length
    if (!kept) return void print(entries)
    kept = lastLines([...kept, ...entries], lines)
  }
  const print = async (entries: Entry[]) => {
    for (const entry of entries) printEntry(terminal, entry, follow)
    if (!process.stdout.writableNeedDrain) return
    channel?.pause()
    await terminal.drained()
    channel?.resume()
  }

  const first = lines > DEFAULT_HISTORY ? { since: 1 } : {}
  channel = await openConsole(api, target, { ...first, onFrame })
  await untilHistoryEnds(channel, () => received)
  const history = kept
  kept = undefined
  await print(history)
  if (!follow) return channel.close()
  const backoff = createBackoff()
  for (;;) {
    const openedAt = performance.now()
    if ((await channel.closed) === CLOSE_SESSION_ENDED)
      throw new CliError(EXIT.notSignedIn, 'The key is not valid any more. Sign in again: quarterdeck login')
    const since = next === undefined ? {} : { since: next }
    // Resets the back-off only after a long connection, because a server may close each one at once.
    if (performance.now() - openedAt < BACKOFF_MS.longest) await backoff.wait()
    else backoff.reset()
    channel = await reconnect(terminal, backoff, () => openConsole(api, target, { ...since, onFrame }))
  }
}

/** The lines of a frame, preceded by a notice about missing ones. @param next the number of the next line, if known */
function entriesOf({ type, content, seq }: ConsoleFrame, next: number | undefined): Entry[] {
  if (type === 'power') return [{ type: 'state', state: content }]
  // The number of missing lines follows from the line numbers.
  if (seq === undefined) return /^\[System\] \d+ lines? skipped$/.test(content) ? [] : [{ type: 'notice', content }]
  const lines = content
    .split('\n')
    .map((line, at): Entry => ({ type: 'line', seq: seq + at, stream: type, content: line }))
  return next !== undefined && seq > next ? [{ type: 'gap', lines: seq - next }, ...lines] : lines
}

function lastLines(entries: Entry[], count: number): Entry[] {
  const lines = entries.filter(({ type }) => type === 'line')
  return lines.slice(Math.max(0, lines.length - count))
}

function printEntry(terminal: Terminal, entry: Entry, follow: boolean): void {
  if (terminal.isJson) return terminal.json(entry)
  if (entry.type === 'line') terminal.coloured(entry.content)
  else if (entry.type === 'gap')
    terminal.note(`-- ${entry.lines === 1 ? '1 line is' : `${entry.lines} lines are`} missing here --`)
  else if (entry.type === 'notice') terminal.note(entry.content)
  else if (follow) terminal.note(`-- ${entry.state} --`)
}

/** A round trip without new lines means that all stored ones were sent. */
async function untilHistoryEnds(channel: ConsoleChannel, count: () => number): Promise<void> {
  for (let before = -1; count() !== before && count() < MAX_HISTORY;) {
    before = count()
    await channel.ping()
  }
}

interface Backoff {
  wait(): Promise<void>
  reset(): void
}

/** Exponential back-off with jitter. */
function createBackoff(): Backoff {
  let ms = BACKOFF_MS.first
  return {
    async wait() {
      const jittered = ms * (0.5 + Math.random() / 2)
      ms = Math.min(ms * 2, BACKOFF_MS.longest)
      await delay(jittered)
    },
    reset: () => (ms = BACKOFF_MS.first),
  }
}

async function reconnect(
  terminal: Terminal,
  backoff: Backoff,
  open: () => Promise<ConsoleChannel>,
): Promise<ConsoleChannel> {
  let isNoted = false
  for (;;) {
    try {
      const channel = await open()
      if (isNoted) terminal.note('-- connected again --')
      return channel
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) throw error
      if (!isNoted) terminal.note('-- the connection was lost; trying again --')
      isNoted = true
      await backoff.wait()
    }
  }
}

/** @throws CliError for users who may only start and stop the instance: the channel sends them no lines */
async function requireConsole(api: Api, deployment: string): Promise<void> {
  const { role, grants, key } = dataOf(await api.calls.GET('/api/account'), AccountResponse)
  const isGranted =
    role !== 'limited' || grants.some((grant) => grant.deployment === deployment && grant.rights.includes('console'))
  if (isGranted && (!key || key.scopes.includes('console'))) return
  throw new CliError(
    EXIT.notAllowed,
    `You may not read the console of ${deployment}: that needs the right and scope console.`,
  )
}

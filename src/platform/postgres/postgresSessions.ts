import { readFile } from 'node:fs/promises'
import type { Logger } from 'pino'
import { startTimeOf } from '../processLock'

/** The process title of a PostgreSQL session by TCP: `postgres: role database 127.0.0.1(40000) idle`. */
const SESSION = /^postgres: .* 127\.0\.0\.1\(\d+\)/
/** A session, or another process of the server that runs users' functions. */
const USERS_PROCESS = /^postgres: (?:.* 127\.0\.0\.1\(\d+\)|(?:parallel|autovacuum) worker )/
/** How long a session may take to end. Some loops in PostgreSQL, such as that of `position`, react to no signal. */
const KILL_AFTER_MS = 15_000

/**
 * Ends sessions of users by signals, which works even if no client can connect. Callers repeat it until the sessions
 * have ended: a process that does not react is killed, and the server then ends all sessions and recovers within
 * seconds.
 * @param pids undefined: all TCP sessions
 */
export type EndSessions = (pids?: number[]) => Promise<void>

/** @param server the pid of the server's first process */
export function createSessionEnder(server: () => number | undefined, log: Logger): EndSessions {
  const signalled = new Map<number, { startTime: string; at: number }>()

  async function end(pid: number): Promise<void> {
    const startTime = startTimeOf(pid)
    if (startTime === '') return
    const { at } = signalled.get(pid) ?? { at: performance.now() }
    signalled.set(pid, { startTime, at })
    if (performance.now() - at < KILL_AFTER_MS) return signal(pid, 'SIGTERM')
    const title = await titleOf(pid)
    if (!USERS_PROCESS.test(title)) return
    log.warn(
      { session: title.replace(/^postgres: /, '').slice(0, 200) },
      'killed a database session that did not react',
    )
    signal(pid, 'SIGKILL')
  }

  return async (pids) => {
    // The kernel gives the pids of ended processes to others.
    for (const [pid, { startTime }] of signalled) if (startTimeOf(pid) !== startTime) signalled.delete(pid)
    await Promise.all((pids ?? (await tcpSessionsOf(server()))).map(end))
  }
}

async function tcpSessionsOf(server: number | undefined): Promise<number[]> {
  const children = await readFile(`/proc/${server}/task/${server}/children`, 'utf8').catch(() => '')
  const pids = children.split(' ').filter(Boolean).map(Number)
  const areSessions = await Promise.all(pids.map(async (pid) => SESSION.test(await titleOf(pid))))
  return pids.filter((_pid, at) => areSessions[at])
}

const titleOf = (pid: number) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')

/** Like pg_terminate_backend, which looks up the role and therefore needs a lock. */
function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended already.
  }
}

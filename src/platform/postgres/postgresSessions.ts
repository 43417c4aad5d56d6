import { readFile } from 'node:fs/promises'

/** The process title of a PostgreSQL session by TCP: `postgres: role database 127.0.0.1(40000) idle`. */
const SESSION = /^postgres: .* 127\.0\.0\.1\(\d+\)/

/** Ends all TCP sessions of a server. @param server the pid of its first process */
export async function endTcpSessions(server: number | undefined): Promise<void> {
  const children = await readFile(`/proc/${server}/task/${server}/children`, 'utf8').catch(() => '')
  await Promise.all(
    children.split(' ').map(async (pid) => {
      const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (SESSION.test(title)) endSession(Number(pid))
    }),
  )
}

/** Like pg_terminate_backend, which looks up the role and therefore needs a lock. */
export function endSession(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // The process has ended already.
  }
}

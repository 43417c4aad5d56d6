import { readFile } from 'node:fs/promises'

/** How PostgreSQL names a process that serves a client by TCP: `postgres: role database 127.0.0.1(40000) idle`. */
const SESSION = /^postgres: .* 127\.0\.0\.1\(\d+\)/

/** Ends all sessions by TCP of a server. @param server the pid of its first process */
export async function endTcpSessions(server: number | undefined): Promise<void> {
  const children = await readFile(`/proc/${server}/task/${server}/children`, 'utf8').catch(() => '')
  await Promise.all(
    children.split(' ').map(async (pid) => {
      const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      if (SESSION.test(title)) endSession(Number(pid))
    }),
  )
}

/** As pg_terminate_backend, which looks the role up and so needs a lock. */
export function endSession(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // It has ended.
  }
}

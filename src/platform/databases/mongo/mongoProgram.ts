import { randomInt } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Logger } from 'pino'
import { AppError } from '../../errors'
import { dieWithParent, OOM_SCORES } from '../../supervision/programProcess'
import { supervise } from '../../supervision/supervisor'
import { endRecordedProcess, writePidFile } from './pidFile'
import { createProgramPort } from './programPort'

export interface MongoProgram {
  path: string
  /** The working directory with its port and pid files. Created if missing, accessible only to us. */
  directory: string
  /** The first port to try at the first start. */
  firstPort: number
  /** Ports that the platform's other programs have or will use. */
  claimed: Set<number>
  /** How long an orderly end may take before the program is killed. */
  stopTimeoutMs: number
  /** Called before each start. */
  prepare(port: number): Promise<{ args: string[]; env?: Record<string, string> }>
  /** Resolves when the program, and no other, is ready on the port. Must give up after a time or after its end. */
  whenReady(port: number, ended: AbortSignal): Promise<void>
  /** Called after every end. */
  onEnd?(): void
}

/** A server program that ends with the platform, even if the platform is killed. */
export interface SupervisedMongo {
  /** On 127.0.0.1. Stored in its directory, and changed when another program uses it. */
  port(): Promise<number>
  /** Resolves when it is ready. Restarted with back-off when it ends or fails to start. @throws AppError UNAVAILABLE */
  start(): Promise<void>
  /** Resolves when it has ended. */
  stop(): Promise<void>
  /** Releases the port of a stopped program that will not be started again. */
  releasePort(): void
}

/** Does not start the program yet. See `supervise` for what is logged. */
export function superviseMongo(program: MongoProgram, log: Logger): SupervisedMongo {
  const { path, directory, claimed, firstPort, stopTimeoutMs } = program
  const name = basename(path)
  const pidFile = join(directory, 'pid')
  const programPort = createProgramPort({ name, file: join(directory, 'port'), firstPort, claimed, log })

  const supervisor = supervise(
    {
      name,
      async prepare(tries) {
        await mkdir(directory, { recursive: true, mode: 0o700 })
        await endRecordedProcess(pidFile, stopTimeoutMs)
        // A random distance: another program that lost the same port would also try the next one.
        const port = await programPort.choose(firstPort + (tries === 1 ? 0 : randomInt(1, 100)))
        const { args, env } = await program.prepare(port)
        return { command: [...dieWithParent('TERM'), path, ...args], env, directory }
      },
      async whenReady(pid, ended) {
        await writePidFile(pidFile, pid)
        // Where there is no /proc, the kernel decides by itself.
        await writeFile(`/proc/${pid}/oom_score_adj`, String(OOM_SCORES.usersDatabases)).catch(() => undefined)
        await program.whenReady(await programPort.current(), ended)
      },
      onEnd: () => program.onEnd?.(),
      stopSignal: 'SIGTERM',
      stopTimeoutMs,
      backOff: { firstMs: 1000, lastMs: 60_000 },
    },
    log,
  )

  return {
    port: () => programPort.current(),
    async start() {
      try {
        await supervisor.start(true)
      } catch {
        throw new AppError(
          'UNAVAILABLE',
          `The MongoDB server (${name}) could not be started. The platform retries it; see its log for the reason.`,
        )
      }
    },
    async stop() {
      await supervisor.stop()
      await endRecordedProcess(pidFile, stopTimeoutMs)
    },
    releasePort: () => programPort.release(),
  }
}

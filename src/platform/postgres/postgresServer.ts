import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { chown, mkdir, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { errorCodeOf, StartError } from '../errors'
import type { HeldLock } from '../processLock'
import { ProgramEnded, type ProgramCommand } from '../supervision/programProcess'
import type { Program } from '../supervision/supervisor'
import { freePort } from './freePort'
import type { PostgresBinaries } from './postgresBinaries'
import { saveCluster, SHARED_MEMORY, type PostgresCluster } from './postgresCluster'

/** Limit of the private memory of each session. A user may set `work_mem` to any size for their own. */
const SESSION_MEMORY_BYTES = 1024 ** 3
/** The limit of sockaddr_un (unix(7)) without the terminating NUL. */
const SOCKET_PATH_LIMIT = 107
/** Of the 10 s that the end of the platform may take (main.ts). */
const STOP_MS = 8000
/**
 * Ends all processes of a server at once; its next start recovers. A fast shutdown never ends if it is requested while
 * the server recovers from a killed session: then it waits for processes that it does not end.
 */
export const IMMEDIATE_SHUTDOWN = 'SIGQUIT'
/** The number of `parentFd` in the server: see `descriptors` in commandOf. */
const SERVER_PARENT_FD = 4

export interface ServerOptions {
  directory: string
  clusterFile: string
  cluster: PostgresCluster
  binaries: PostgresBinaries
  /** Settings as `name=value`, in addition to those of every server. */
  settings: string[]
  /**
   * On memory shortage the kernel kills processes with a high score first (proc_pid_oom_score_adj(5)). The score of all
   * processes except the first, which restarts the others; undefined: that of the platform.
   */
  oomScore: number | undefined
  /** Whether the server listens on 127.0.0.1 in addition to its unix socket. */
  listens: boolean
  socketDirectory: SocketDirectory
  /** All ports since the platform's start: open connection URLs still use them. */
  usedPorts: Set<number>
  lock: HeldLock
  log: Logger
}

/** The server. It changes its port permanently when another process uses it. */
export function postgresProgram(options: ServerOptions): Program {
  const { clusterFile, cluster, usedPorts, socketDirectory, log } = options
  let reportReady = (): void => undefined

  async function moveToFreePort(): Promise<void> {
    const { port } = cluster
    // A random distance: another server that lost the same port would also try the next one.
    const now = await freePort(port + 1 + randomInt(100))
    // Saved first: a port that is lost at the next start would make every stored connection URL wrong.
    await saveCluster(clusterFile, { ...cluster, port: now })
    cluster.port = now
    log.warn({ port, now }, `port ${port} of the embedded PostgreSQL is in use; using ${now} instead`)
  }

  return {
    name: 'the embedded PostgreSQL',
    async prepare(tries) {
      if (tries > 1) await moveToFreePort()
      await recreateSocketDirectory(socketDirectory.path, options)
      usedPorts.add(cluster.port)
      return {
        ...commandOf(options),
        // Other lines may contain users' texts.
        keptOutput: /(?:FATAL|ERROR|PANIC|HINT).*/,
        onLine(line) {
          if (line.includes('ready to accept connections')) reportReady()
        },
      }
    },
    whenReady: () => new Promise((resolve) => (reportReady = resolve)),
    // Fast shutdown, after which the next start need not recover.
    stopSignal: 'SIGINT',
    stopTimeoutMs: STOP_MS,
    killSignal: IMMEDIATE_SHUTDOWN,
    // Not exponential: the platform needs the server.
    backOff: { firstMs: 1000, lastMs: 1000 },
  }
}

/** The error of a first start. */
export function startErrorOf(error: unknown, { cluster }: ServerOptions): unknown {
  if (error instanceof ProgramEnded) {
    const { code, lastLines } = error.exit
    return new StartError([
      `The embedded PostgreSQL ended at its start (exit code ${code}, port ${cluster.port}). ${lastLines.at(-1) ?? ''}`,
    ])
  }
  return errorCodeOf(error) === undefined
    ? error
    : new StartError([`The embedded PostgreSQL could not be started: ${(error as Error).message}`])
}

function commandOf(options: ServerOptions): ProgramCommand {
  const { directory, cluster, binaries, oomScore, listens, socketDirectory, lock } = options
  const settings = [
    `listen_addresses=${listens ? '127.0.0.1' : ''}`,
    `unix_socket_directories="${socketDirectory.ofServer.replaceAll('"', '""')}"`,
    'shared_buffers=64MB',
    SHARED_MEMORY,
    ...options.settings,
  ]
  const server = binaries.command(
    'postgres',
    '-D',
    directory,
    '-p',
    String(cluster.port),
    ...settings.flatMap((setting) => ['-c', setting]),
  )
  return {
    command: [...memoryLimit(), ...server],
    descriptors: [lock.fd, socketDirectory.parentFd ?? 'ignore'],
    env: {
      LC_ALL: 'C',
      ...(oomScore !== undefined && {
        PG_OOM_ADJUST_FILE: '/proc/self/oom_score_adj',
        PG_OOM_ADJUST_VALUE: String(oomScore),
      }),
    },
  }
}

/** The beginning of a command, whose sessions inherit the limit. Without prlimit (util-linux) there is no limit. */
function memoryLimit(): string[] {
  return spawnSync('prlimit', ['--version']).status === 0 ? ['prlimit', `--data=${SESSION_MEMORY_BYTES}`] : []
}

const socketName = (port: number) => `.s.PGSQL.${port}`

/** The directory of the unix socket. */
export interface SocketDirectory {
  path: string
  /** The path for the server, and for this process. */
  ofServer: string
  ofPlatform: string
  /** The directory above it, if the path is too long for a socket. Must stay open while the server is used. */
  parentFd: number | undefined
  close(): void
}

/** Shortens a long path through a descriptor. TCP is no alternative: any instance could take the port or block it. */
export function openSocketDirectory(directory: string): SocketDirectory {
  const path = `${directory}.sockets`
  if (Buffer.byteLength(join(path, socketName(65_535))) <= SOCKET_PATH_LIMIT)
    return { path, ofServer: path, ofPlatform: path, parentFd: undefined, close: () => undefined }
  const parentFd = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  const below = (fd: number) => `/proc/self/fd/${fd}/${basename(path)}`
  return {
    path,
    ofServer: below(SERVER_PARENT_FD),
    ofPlatform: below(parentFd),
    parentFd,
    close: () => closeSync(parentFd),
  }
}

/** Recreates the directory, because old files would prevent the start. Only the server's owner may enter. */
async function recreateSocketDirectory(
  socketDirectory: string,
  { binaries: { owner }, cluster, usedPorts }: ServerOptions,
): Promise<void> {
  await rm(socketDirectory, { recursive: true, force: true })
  await mkdir(socketDirectory, { mode: 0o700 })
  if (owner !== undefined) await chown(socketDirectory, owner, owner)
  // The socket's name contains the port. Linked before the start, so that a failure leaves no unreachable server.
  for (const port of usedPorts)
    if (port !== cluster.port) await symlink(socketName(cluster.port), join(socketDirectory, socketName(port)))
}

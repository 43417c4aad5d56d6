import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { constants, openSync } from 'node:fs'
import { chown, mkdir, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { StartError } from '../errors'
import { readOutput } from '../lineSplitter'
import type { HeldLock } from '../processLock'
import { freePort } from './freePort'
import type { PostgresBinaries } from './postgresBinaries'
import { saveCluster, type PostgresCluster } from './postgresCluster'

const PORT_TRIES = 5
/** Limit of the private memory of each session. A user may set `work_mem` to any size for their own. */
const SESSION_MEMORY_BYTES = 1024 ** 3
/** The limit of sockaddr_un (unix(7)) without the terminating NUL. */
const SOCKET_PATH_LIMIT = 107
/** The number of `parentFd` in the server. */
const SERVER_PARENT_FD = 4

class PortInUse extends StartError {}

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
  /** Earlier ports since the platform's start: open connection URLs still use them. */
  earlierPorts: Set<number>
  lock: HeldLock
  log: Logger
}

/** Starts the server, and changes its port permanently when another process uses it. @throws StartError */
export async function startOnFreePort(options: ServerOptions): Promise<ChildProcess> {
  const { clusterFile, cluster, log } = options
  for (let tries = 1; ; tries++) {
    try {
      return await startServer(options)
    } catch (error) {
      if (!(error instanceof PortInUse) || tries === PORT_TRIES) throw error
      const { port } = cluster
      // A random distance: another server that lost the same port would also try the next one.
      cluster.port = await freePort(port + 1 + randomInt(100))
      await saveCluster(clusterFile, cluster)
      log.warn(
        { port, now: cluster.port },
        `port ${port} of the embedded PostgreSQL is in use; using ${cluster.port} instead`,
      )
    }
  }
}

/** The command with a limit of memory, which sessions inherit. Without prlimit (util-linux) there is no limit. */
function withMemoryLimit(program: string, args: string[]): [program: string, args: string[]] {
  if (spawnSync('prlimit', ['--version']).status !== 0) return [program, args]
  return ['prlimit', [`--data=${SESSION_MEMORY_BYTES}`, program, ...args]]
}

/** Starts the server on its port. @throws StartError */
async function startServer(options: ServerOptions): Promise<ChildProcess> {
  const { directory, cluster, binaries, oomScore, listens, socketDirectory, lock, log } = options
  await recreateSocketDirectory(socketDirectory.path, options)
  const settings = [
    `listen_addresses=${listens ? '127.0.0.1' : ''}`,
    `unix_socket_directories="${socketDirectory.ofServer}"`,
    'shared_buffers=64MB',
    ...options.settings,
  ]
  const [program, args] = binaries.command(
    'postgres',
    '-D',
    directory,
    '-p',
    String(cluster.port),
    ...settings.flatMap((setting) => ['-c', setting]),
  )
  // A session of its own, because Ctrl-C in the terminal must reach only the platform, which stops PostgreSQL last.
  const server = spawn(...withMemoryLimit(program, args), {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', lock.fd, socketDirectory.parentFd ?? 'ignore'],
    env: {
      PATH: process.env.PATH,
      LC_ALL: 'C',
      ...(oomScore !== undefined && {
        PG_OOM_ADJUST_FILE: '/proc/self/oom_score_adj',
        PG_OOM_ADJUST_VALUE: String(oomScore),
      }),
    },
  })
  let last = ''
  let isPortTaken = false
  return new Promise((resolve, reject) => {
    server.on('error', (error) =>
      reject(new StartError([`The embedded PostgreSQL could not be started: ${error.message}`])),
    )
    // Undefined if spawn ran out of descriptors.
    if (!server.stderr) return
    readOutput(server.stderr, (line) => {
      log.debug({ postgres: line }, 'postgres')
      isPortTaken ||= line.includes('could not create any TCP/IP sockets')
      if (/FATAL|ERROR|PANIC|HINT/.test(line)) last = line.replace(/^.*?(?=FATAL|ERROR|PANIC|HINT)/, '')
      if (line.includes('ready to accept connections')) resolve(server)
    })
    server.once('exit', (code) =>
      reject(
        new (isPortTaken ? PortInUse : StartError)([
          `The embedded PostgreSQL ended at its start (exit code ${code}, port ${cluster.port}). ${last}`,
        ]),
      ),
    )
  })
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
}

/** Shortens a long path through a descriptor. TCP is no alternative: any instance could take the port or block it. */
export function openSocketDirectory(directory: string): SocketDirectory {
  const path = `${directory}.sockets`
  if (Buffer.byteLength(join(path, socketName(65_535))) <= SOCKET_PATH_LIMIT)
    return { path, ofServer: path, ofPlatform: path, parentFd: undefined }
  const parentFd = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  const below = (fd: number) => `/proc/self/fd/${fd}/${basename(path)}`
  return { path, ofServer: below(SERVER_PARENT_FD), ofPlatform: below(parentFd), parentFd }
}

/** Recreates the directory, because old files would prevent the start. Only the server's owner may enter. */
async function recreateSocketDirectory(
  socketDirectory: string,
  { binaries: { owner }, cluster, earlierPorts }: ServerOptions,
): Promise<void> {
  await rm(socketDirectory, { recursive: true, force: true })
  await mkdir(socketDirectory, { mode: 0o700 })
  if (owner !== undefined) await chown(socketDirectory, owner, owner)
  // The socket's name contains the port. Linked before the start, so that a failure leaves no unreachable server.
  for (const port of earlierPorts)
    if (port !== cluster.port) await symlink(socketName(cluster.port), join(socketDirectory, socketName(port)))
}

import { existsSync, lstatSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StartError } from '../errors'
import { takeLock, type HeldLock } from '../processLock'
import { OOM_SCORES } from '../supervision/programProcess'
import { supervise } from '../supervision/supervisor'
import { findPostgresBinaries, type PostgresBinaries } from './postgresBinaries'
import { createCluster, finishCluster, readCluster } from './postgresCluster'
import { makeExtensions } from './postgresExtensions'
import { createSessionEnder, type EndSessions } from './postgresSessions'
import {
  IMMEDIATE_SHUTDOWN,
  openSocketDirectory,
  postgresProgram,
  startErrorOf,
  type ServerOptions,
  type SocketDirectory,
} from './postgresServer'

/**
 * The use of each server, with the name of its directory in the data directory. The platform's state has a server of
 * its own, so that users' sessions (locks, long transactions, memory) cannot stop the platform's writes.
 */
const NAMES = { state: 'state', databases: 'postgres' } as const
export type PostgresUse = keyof typeof NAMES

/** Time for the server of an earlier start to end. */
const PREVIOUS_SERVER_TIMEOUT_MS = 10_000

export interface EmbeddedPostgres {
  /**
   * A superuser's URL. It names the TCP address that users connect to and, as `host` of its query, the directory of the
   * unix socket that the platform connects to. Another process that takes the port while the server is down cannot
   * listen there. It changes when the server moves to another port; an earlier URL with a unix socket stays valid.
   */
  readonly adminUrl: string
  endUsersSessions: EndSessions
  /** Fast shutdown: rolls back open transactions, then ends. */
  stop(): Promise<void>
}

/** The directories of all servers, which may be missing. */
export function postgresDirectories(dataDir: string): string[] {
  return Object.values(NAMES).map((name) => join(dataDir, name))
}

/** The directory of a server's files. The names of what belongs to it begin with the same path. */
export function postgresDirectory(dataDir: string, use: PostgresUse): string {
  return join(dataDir, NAMES[use])
}

/** Whether a server was created, even if its files are missing now: they may be on another disk, behind a link. */
export function hasEmbeddedPostgres(dataDir: string, use: PostgresUse): boolean {
  const directory = postgresDirectory(dataDir, use)
  return [directory, `${directory}.json`].some((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined)
}

/**
 * Starts the bundled PostgreSQL on its directory, which the first start creates. It requires passwords (SCRAM-SHA-256),
 * and is restarted when it exits. The server of users' databases listens on 127.0.0.1; that of the state only on its
 * unix socket.
 * @throws StartError when it cannot be created or started, or when the file with its passwords is missing
 */
export async function startEmbeddedPostgres(dataDir: string, use: PostgresUse, log: Logger): Promise<EmbeddedPostgres> {
  const binaries = await findPostgresBinaries(dataDir)
  const directory = postgresDirectory(dataDir, use)
  const lock = await lockServer(directory, log)
  let socketDirectory: SocketDirectory | undefined
  try {
    socketDirectory = openSocketDirectory(directory)
    return await startLocked({ dataDir, use, directory, binaries, lock, socketDirectory, log })
  } catch (error) {
    socketDirectory?.close()
    lock.release()
    throw error
  }
}

interface Start {
  dataDir: string
  use: PostgresUse
  directory: string
  binaries: PostgresBinaries
  lock: HeldLock
  socketDirectory: SocketDirectory
  log: Logger
}

async function startLocked(start: Start): Promise<EmbeddedPostgres> {
  const { dataDir, use, directory, binaries, lock, socketDirectory, log } = start
  const clusterFile = `${directory}.json`
  const known = (await readCluster(clusterFile)) ?? (await finishCluster(directory, clusterFile))
  if (known && !existsSync(directory))
    throw new StartError([`The PostgreSQL data ${directory} is missing: mount its disk, or restore it from a backup`])
  const cluster = known ?? (await createCluster(directory, clusterFile, binaries))
  await removeStalePidFile(directory, lock)

  const options: ServerOptions = {
    directory,
    clusterFile,
    cluster,
    binaries,
    settings: use === 'databases' ? await settingsForUsers(dataDir, binaries) : [],
    oomScore: use === 'databases' ? OOM_SCORES.usersDatabases : undefined,
    listens: use === 'databases',
    socketDirectory,
    lock,
    log,
    usedPorts: new Set(),
  }
  const server = supervise(postgresProgram(options), log.child({ directory }))
  await server.start(false).catch((error: unknown) => {
    throw startErrorOf(error, options)
  })

  return {
    get adminUrl() {
      const url = `postgresql://postgres:${cluster.adminPassword}@127.0.0.1:${cluster.port}/postgres`
      return `${url}?host=${encodeURIComponent(socketDirectory.ofPlatform)}`
    },
    endUsersSessions: createSessionEnder(() => server.pid(), log),
    async stop() {
      await server.stop()
      lock.release()
      socketDirectory.close()
    },
  }
}

/**
 * Locks the data. Every process of the PostgreSQL inherits the lock, so no second server starts on these files while
 * one of them lives, in any container. Waits because a server may still be shutting down after its platform was killed.
 */
async function lockServer(directory: string, log: Logger): Promise<HeldLock> {
  const file = `${directory}.lock`
  let isLogged = false
  let isEnded = false
  let deadline = performance.now() + PREVIOUS_SERVER_TIMEOUT_MS
  while (true) {
    const lock = takeLock(file)
    if (lock) return lock
    if (performance.now() > deadline) {
      if (isEnded || !(await endStoppingServer(directory))) throw stillInUse(directory)
      log.warn('the PostgreSQL of an earlier start has not ended in time; ending all its processes')
      isEnded = true
      deadline = performance.now() + PREVIOUS_SERVER_TIMEOUT_MS
    }
    if (!isLogged) log.info('waiting for the PostgreSQL of an earlier start to end')
    isLogged = true
    await delay(50)
  }
}

/** Ends a server whose shutdown was requested and does not end. @returns whether there is one */
async function endStoppingServer(directory: string): Promise<boolean> {
  const [pid = '', ...lines] = await readPidFile(directory)
  if (lines.at(-1)?.trim() !== 'stopping' || !(await isPostgresOf(Number(pid), directory))) return false
  process.kill(Number(pid), IMMEDIATE_SHUTDOWN)
  return true
}

/** The lines of a server's pid file. The last one says what the server does. */
async function readPidFile(directory: string): Promise<string[]> {
  return (await readFile(pidFileOf(directory), 'utf8').catch(() => '')).trimEnd().split('\n')
}

const pidFileOf = (directory: string) => join(directory, 'postmaster.pid')

/**
 * Removes the pid file of a killed server, because PostgreSQL refuses to start while any process has that pid. The pid
 * of another boot or container means nothing; holding the lock proves that the server has ended.
 */
async function removeStalePidFile(directory: string, { previousOwner }: HeldLock): Promise<void> {
  const readPid = async () => Number((await readPidFile(directory))[0])
  for (
    const deadline = performance.now() + PREVIOUS_SERVER_TIMEOUT_MS;
    await isPostgresOf(await readPid(), directory);
    await delay(50)
  ) {
    // An older version or an operator started this server without the lock.
    if (performance.now() > deadline) throw stillInUse(directory)
  }
  // An older version took no lock, and its server may live in another container: let PostgreSQL decide.
  if (previousOwner !== '') await rm(pidFileOf(directory), { force: true })
}

function stillInUse(directory: string): StartError {
  return new StartError([
    `The embedded PostgreSQL in ${directory} is still in use by another process: stop that process`,
  ])
}

async function settingsForUsers(dataDir: string, { shareDir }: PostgresBinaries): Promise<string[]> {
  return [
    'max_connections=200',
    // Reserved for the platform's administrator, however many connections users hold.
    'superuser_reserved_connections=15',
    // A client that does not sign in within this time is disconnected to make room for others.
    'authentication_timeout=3s',
    // The same for one that waits for a lock of a session while it is being opened. `setUpSessions` lifts the limit
    // for what sessions do afterwards.
    'lock_timeout=5s',
    // Per session, so that a user's query cannot fill the disk. Only superusers may raise it.
    'temp_file_limit=1GB',
    // 512 MiB instead of 8 GiB: the queue of notifications grows until all sessions that listen have read it.
    'max_notify_queue_pages=65536',
    `extension_control_path=${await makeExtensions(dataDir, shareDir)}`,
  ]
}

async function isPostgresOf(pid: number, directory: string): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return commandLine.split('\0').includes(directory)
}

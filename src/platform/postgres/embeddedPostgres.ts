import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { escapeIdentifier, escapeLiteral } from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../errors'
import { PostgresClient } from '../postgresClient'
import { takeLock, type HeldLock } from '../processLock'
import { findPostgresBinaries, type PostgresBinaries } from './postgresBinaries'
import { createCluster, finishCluster, readCluster } from './postgresCluster'
import { makeExtensions } from './postgresExtensions'
import { socketDirectoryOf, startOnFreePort, startServer, type ServerOptions } from './postgresServer'

/** The name of the platform's database and of the role that owns it. */
const STATE_NAME = 'quarterdeck'

/** Time for the server of an earlier start to end. */
const PREVIOUS_SERVER_TIMEOUT_MS = 10_000

export interface EmbeddedPostgres {
  /**
   * A superuser's URL. It names the TCP address that users connect to and, as `host` of its query, the directory of the
   * unix socket that the platform connects to. Another process that takes the port while the server is down cannot
   * listen there.
   */
  readonly adminUrl: string
  /** The URL of the platform's database, as the role that owns only that. It keeps its port when the server moves. */
  readonly stateUrl: string
  /** Fast shutdown: rolls back open transactions, then ends. */
  stop(): Promise<void>
}

/**
 * Starts the bundled PostgreSQL in `<dataDir>/postgres`, which the first start creates. It listens on 127.0.0.1 only,
 * requires passwords (SCRAM-SHA-256), and is restarted when it exits.
 * @throws StartError when it cannot be created or started, or when the file with its passwords is missing
 */
export async function startEmbeddedPostgres(dataDir: string, log: Logger): Promise<EmbeddedPostgres> {
  const binaries = await findPostgresBinaries(dataDir)
  const lock = await lockServer(dataDir, log)
  try {
    return await startLocked(dataDir, binaries, lock, log)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function startLocked(
  dataDir: string,
  binaries: PostgresBinaries,
  lock: HeldLock,
  log: Logger,
): Promise<EmbeddedPostgres> {
  const directory = join(dataDir, 'postgres')
  const clusterFile = join(dataDir, 'postgres.json')
  const known = (await readCluster(clusterFile)) ?? (await finishCluster(directory, clusterFile))
  const cluster = known ?? (await createCluster(directory, clusterFile, binaries))
  await removeStalePidFile(directory, lock)
  const extensions = await makeExtensions(dataDir, binaries.shareDir)

  const socketDirectory = socketDirectoryOf(directory)
  let stopping = false
  let restarting: Promise<void> | undefined
  const options: ServerOptions = {
    directory,
    clusterFile,
    cluster,
    binaries,
    extensions,
    socketDirectory,
    lock,
    log,
    earlierPorts: new Set(),
  }
  let server = await startOnFreePort(options)
  const statePort = cluster.port
  const keepRunning = (): void => {
    server.once('exit', (code, signal) => {
      if (stopping) return
      log.error({ code, signal }, 'the embedded PostgreSQL ended; restarting it')
      restarting = restart()
    })
  }
  const restart = async (): Promise<void> => {
    for (;;) {
      await delay(1000)
      if (stopping) return
      try {
        options.earlierPorts.add(cluster.port)
        // Without a unix socket, connections depend on the port, so it must not change.
        server = await (socketDirectory === undefined ? startServer(options) : startOnFreePort(options))
        keepRunning()
        return
      } catch (error) {
        log.error({ err: error }, 'failed to restart the embedded PostgreSQL; retrying')
      }
    }
  }
  keepRunning()

  const adminUrl = () => urlOf('postgres', cluster.adminPassword, cluster.port, 'postgres', socketDirectory)
  await createStateDatabase(adminUrl(), cluster.statePassword)
  return {
    get adminUrl() {
      return adminUrl()
    },
    stateUrl: urlOf(STATE_NAME, cluster.statePassword, statePort, STATE_NAME, socketDirectory),
    async stop() {
      stopping = true
      // A restart may be in progress.
      await restarting
      if (server.exitCode === null && server.signalCode === null) {
        const exited = once(server, 'exit')
        server.kill('SIGINT')
        await exited
      }
      lock.release()
    },
  }
}

/**
 * Locks the data. Every process of the PostgreSQL inherits the lock, so no second server starts on these files while
 * one of them lives, in any container. Waits because a server may still be shutting down after its platform was killed.
 */
async function lockServer(dataDir: string, log: Logger): Promise<HeldLock> {
  const file = join(dataDir, 'postgres.lock')
  let isLogged = false
  for (const since = performance.now(); ; await delay(50)) {
    const lock = takeLock(file)
    if (lock) return lock
    if (performance.now() - since > PREVIOUS_SERVER_TIMEOUT_MS) throw stillInUse(join(dataDir, 'postgres'))
    if (!isLogged) log.info('waiting for the PostgreSQL of an earlier start to end')
    isLogged = true
  }
}

/**
 * Removes the pid file of a killed server, because PostgreSQL refuses to start while any process has that pid. The pid
 * of another boot or container means nothing; holding the lock proves that the server has ended.
 */
async function removeStalePidFile(directory: string, { previousOwner }: HeldLock): Promise<void> {
  const file = join(directory, 'postmaster.pid')
  const readPid = async () => Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0])
  for (
    const deadline = performance.now() + PREVIOUS_SERVER_TIMEOUT_MS;
    await isPostgresOf(await readPid(), directory);
    await delay(50)
  ) {
    // An older version or an operator started this server without the lock.
    if (performance.now() > deadline) throw stillInUse(directory)
  }
  // An older version took no lock, and its server may live in another container: let PostgreSQL decide.
  if (previousOwner !== '') await rm(file, { force: true })
}

function stillInUse(directory: string): StartError {
  return new StartError([
    `The embedded PostgreSQL in ${directory} is still in use by another process: stop that process`,
  ])
}

async function createStateDatabase(adminUrl: string, password: string): Promise<void> {
  const admin = new PostgresClient({ connectionString: adminUrl })
  // Without a listener a broken connection would end the process.
  admin.on('error', () => undefined)
  await admin.connect()
  try {
    const name = escapeIdentifier(STATE_NAME)
    const { rowCount: role } = await admin.query('select 1 from pg_roles where rolname = $1', [STATE_NAME])
    if (!role) await admin.query(`create role ${name} login password ${escapeLiteral(password)}`)
    await admin.query(`grant pg_use_reserved_connections to ${name}`)
    const { rowCount: database } = await admin.query('select 1 from pg_database where datname = $1', [STATE_NAME])
    if (!database) await admin.query(`create database ${name} owner ${name}`)
    await admin.query(`revoke all on database ${name} from public`)
  } finally {
    await admin.end()
  }
}

/** @param socketDirectory the directory of the unix socket; undefined connects by TCP */
function urlOf(
  user: string,
  password: string,
  port: number,
  database: string,
  socketDirectory: string | undefined,
): string {
  const url = `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`
  return socketDirectory === undefined ? url : `${url}?host=${encodeURIComponent(socketDirectory)}`
}

async function isPostgresOf(pid: number, directory: string): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return commandLine.includes(directory)
}

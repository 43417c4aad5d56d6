import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, escapeIdentifier, escapeLiteral } from 'pg'
import type { Logger } from 'pino'
import { StartError } from '../errors'
import { takeLock, type HeldLock } from '../processLock'
import { freePort } from './freePort'
import { findPostgresBinaries, type PostgresBinaries } from './postgresBinaries'
import { finishCluster, makeCluster, readCluster, saveCluster, type PostgresCluster } from './postgresCluster'
import { makeExtensions } from './postgresExtensions'

/** The database of the platform's own state, and the role that owns it. */
const STATE_NAME = 'quarterdeck'

const PORT_TRIES = 5
/** What sockaddr_un takes (unix(7)), without its last NUL. */
const SOCKET_PATH_LIMIT = 107
/** How long the server of an earlier start may take to end. In milliseconds. */
const FORERUNNER_MS = 10_000

class PortInUse extends StartError {}

export interface EmbeddedPostgres {
  /**
   * A superuser's URL of the server. It names the address for users, and as `host` of its query the directory of the unix socket that
   * the platform itself connects to: nobody else can listen there, whoever takes the port while the server is away.
   */
  readonly adminUrl: string
  /** The URL of the platform's own database, as the role that owns just that; it stays the same when the server moves to another port. */
  readonly stateUrl: string
  /** Ends the server after its open transactions were rolled back (fast shutdown). */
  stop(): Promise<void>
}

/**
 * Starts the PostgreSQL that Quarterdeck brings, in `<dataDir>/postgres`; makes it at the first start. It listens on
 * 127.0.0.1 only, asks for passwords (SCRAM-SHA-256), and is started again when it ends by itself.
 * @throws StartError when it cannot be made or started, or when its data is there and its passwords are not.
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
  const cluster = known ?? (await makeCluster(directory, clusterFile, binaries))
  await removeStalePidFile(directory, lock)
  const extensions = await makeExtensions(dataDir, binaries.shareDir)

  const sockets = socketDirectoryOf(directory)
  let stopping = false
  let restarting: Promise<void> | undefined
  const start: Start = {
    directory,
    clusterFile,
    cluster,
    binaries,
    extensions,
    sockets,
    lock,
    log,
    earlierPorts: new Set(),
  }
  let server = await startOnFreePort(start)
  const statePort = cluster.port
  const keepRunning = (): void => {
    server.once('exit', (code, signal) => {
      if (stopping) return
      log.error({ code, signal }, 'the embedded PostgreSQL ended and is started again')
      restarting = restart()
    })
  }
  const restart = async (): Promise<void> => {
    for (;;) {
      await delay(1000)
      if (stopping) return
      try {
        start.earlierPorts.add(cluster.port)
        // Connections by a port would not find it at another one.
        server = await (sockets === undefined ? startServer(start) : startOnFreePort(start))
        keepRunning()
        return
      } catch (error) {
        log.error({ err: error }, 'the embedded PostgreSQL could not be started again')
      }
    }
  }
  keepRunning()

  const adminUrl = () => urlOf('postgres', cluster.adminPassword, cluster.port, 'postgres', sockets)
  await makeStateDatabase(adminUrl(), cluster.statePassword)
  return {
    get adminUrl() {
      return adminUrl()
    },
    stateUrl: urlOf(STATE_NAME, cluster.statePassword, statePort, STATE_NAME, sockets),
    async stop() {
      stopping = true
      // One that was about to be ready meanwhile.
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

/** What a start of the server needs. */
interface Start {
  directory: string
  clusterFile: string
  cluster: PostgresCluster
  binaries: PostgresBinaries
  extensions: string
  /** Of its unix socket; undefined: it has none. */
  sockets: string | undefined
  /** Ports that it had since the platform was started: connections by them have to find it. */
  earlierPorts: Set<number>
  lock: HeldLock
  log: Logger
}

/** Its port may be somebody else's by now: then it moves to another one, for good. */
async function startOnFreePort(start: Start): Promise<ChildProcess> {
  const { clusterFile, cluster, log } = start
  for (let tries = 1; ; tries++) {
    try {
      return await startServer(start)
    } catch (error) {
      if (!(error instanceof PortInUse) || tries === PORT_TRIES) throw error
      const { port } = cluster
      // Not the very next one: whoever took this one at the same time looks there too.
      cluster.port = await freePort(port + 1 + randomInt(100))
      await saveCluster(clusterFile, cluster)
      log.warn(
        { port, now: cluster.port },
        `port ${port} of the embedded PostgreSQL is in use; it moves to ${cluster.port}`,
      )
    }
  }
}

/**
 * The lock is held by the platform and inherited by every process of the PostgreSQL that it starts: while one of them lives,
 * in whatever container, no other server is started on these files. After a kill of the platform it is still shutting down for a moment.
 */
async function lockServer(dataDir: string, log: Logger): Promise<HeldLock> {
  const file = join(dataDir, 'postgres.lock')
  let isTold = false
  for (const since = performance.now(); ; await delay(50)) {
    const lock = takeLock(file)
    if (lock) return lock
    if (performance.now() - since > FORERUNNER_MS) throw stillInUse(join(dataDir, 'postgres'))
    if (!isTold) log.info('waiting for the PostgreSQL of an earlier start to end')
    isTold = true
  }
}

/**
 * A killed server leaves its pid file, and PostgreSQL refuses to start while any process has that number. The pid says nothing
 * when it is of another boot or another container; what counts is that we hold the lock which that server held.
 */
async function removeStalePidFile(directory: string, { previousOwner }: HeldLock): Promise<void> {
  const file = join(directory, 'postmaster.pid')
  const readPid = async () => Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0])
  for (
    const deadline = performance.now() + FORERUNNER_MS;
    await isPostgresOf(await readPid(), directory);
    await delay(50)
  ) {
    // One without the lock: it was started by an older version, or by hand.
    if (performance.now() > deadline) throw stillInUse(directory)
  }
  // Left by a version that locked nothing: whether its server lives in another container is not known, so PostgreSQL decides.
  if (previousOwner !== '') await rm(file, { force: true })
}

function stillInUse(directory: string): StartError {
  return new StartError([`The embedded PostgreSQL in ${directory} is still in use by another process`])
}

async function startServer(start: Start): Promise<ChildProcess> {
  const { directory, cluster, binaries, extensions, sockets, lock, log } = start
  if (sockets !== undefined) await makeSocketDirectory(sockets, start)
  const [program, args] = binaries.command(
    'postgres',
    '-D',
    directory,
    '-p',
    String(cluster.port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${sockets === undefined ? '' : `"${sockets}"`}`,
    '-c',
    'max_connections=200',
    '-c',
    'shared_buffers=64MB',
    // Users' databases are here too: however many connections they open, these stay for the platform's state and for administration.
    '-c',
    'reserved_connections=40',
    '-c',
    'superuser_reserved_connections=15',
    // One query of a user must not fill the disk that the state is on, and only superusers may raise this. For each session.
    '-c',
    'temp_file_limit=1GB',
    '-c',
    `extension_control_path=${extensions}`,
  )
  // A session of its own: Ctrl-C in the terminal must reach the platform alone, which ends PostgreSQL last.
  const server = spawn(program, args, {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', lock.fd],
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  })
  let last = ''
  let isPortTaken = false
  return new Promise((resolve, reject) => {
    server.on('error', (error) =>
      reject(new StartError([`The embedded PostgreSQL could not be started: ${error.message}`])),
    )
    // Where there was no descriptor for it.
    if (!server.stderr) return
    createInterface(server.stderr).on('line', (line) => {
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

async function makeStateDatabase(adminUrl: string, password: string): Promise<void> {
  const admin = new Client({ connectionString: adminUrl })
  // A connection that breaks fails its query; without a listener it would end the process as well.
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

/** @param sockets the directory of the server's unix socket; undefined: it is connected to by its port. */
function urlOf(user: string, password: string, port: number, database: string, sockets: string | undefined): string {
  const url = `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`
  return sockets === undefined ? url : `${url}?host=${encodeURIComponent(sockets)}`
}

const socketName = (port: number) => `.s.PGSQL.${port}`

/** Where the server's unix socket is; undefined where its path would be too long for one. */
function socketDirectoryOf(directory: string): string | undefined {
  const sockets = `${directory}.sockets`
  return Buffer.byteLength(join(sockets, socketName(65_535))) <= SOCKET_PATH_LIMIT ? sockets : undefined
}

/** Makes it anew: what a killed server left there keeps the next one from starting. It is for the server's owner and root alone. */
async function makeSocketDirectory(
  sockets: string,
  { binaries: { owner }, cluster, earlierPorts }: Start,
): Promise<void> {
  await rm(sockets, { recursive: true, force: true })
  await mkdir(sockets, { mode: 0o700 })
  if (owner !== undefined) await chown(sockets, owner, owner)
  // The name of the socket holds the port. Made before the start, so that a failure leaves no server that nobody finds.
  for (const port of earlierPorts)
    if (port !== cluster.port) await symlink(socketName(cluster.port), join(sockets, socketName(port)))
}

async function isPostgresOf(pid: number, directory: string): Promise<boolean> {
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return commandLine.includes(directory)
}

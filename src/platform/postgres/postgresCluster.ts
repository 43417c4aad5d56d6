import { execFile } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { chown, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { z } from 'zod'
import { errorCodeOf, StartError } from '../errors'
import { freePort } from './freePort'
import type { PostgresBinaries } from './postgresBinaries'

const run = promisify(execFile)
const FIRST_PORT = 15_432
/** A new server takes a random one of this many ports: see createCluster. */
const PORTS = 400

const PostgresCluster = z.object({
  /** On 127.0.0.1. Kept while it is free, because users' credentials contain it. */
  port: z.number(),
  adminPassword: z.string(),
})
export type PostgresCluster = z.infer<typeof PostgresCluster>

/**
 * @returns undefined if the file is missing
 * @throws StartError if it exists and is unreadable: treating it as missing would create a new server without the data
 */
export async function readCluster(file: string): Promise<PostgresCluster | undefined> {
  try {
    return PostgresCluster.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'ENOENT') return undefined
    if (code !== undefined) throw new StartError([`${file} cannot be read (${code})`])
    throw new StartError([
      `${file} is damaged: restore it from a backup. It holds the passwords of the embedded PostgreSQL`,
    ])
  }
}

/**
 * A setting: the memory that sessions share is in files of the server, not in /dev/shm. There it would count against no
 * session's limit, and any user of the machine may fill it, after which the server could not start.
 */
export const SHARED_MEMORY = 'dynamic_shared_memory_type=mmap'

/**
 * Completes a first start that was interrupted just before its end.
 * @returns undefined if there is no data
 * @throws StartError if there is data but no file with its passwords
 */
export async function finishCluster(directory: string, clusterFile: string): Promise<PostgresCluster | undefined> {
  const exists = await lstat(directory).then(
    () => true,
    (error: unknown) => errorCodeOf(error) !== 'ENOENT',
  )
  if (!exists) return undefined
  const cluster = await readCluster(`${clusterFile}.new`)
  if (!cluster)
    throw new StartError([
      `${clusterFile} is missing: restore it from a backup. It holds the passwords of the PostgreSQL in ${directory}`,
    ])
  await rename(`${clusterFile}.new`, clusterFile)
  return cluster
}

/** Creates a server's data, with new passwords and their file. @throws StartError with the message of initdb */
export async function createCluster(
  directory: string,
  clusterFile: string,
  binaries: PostgresBinaries,
): Promise<PostgresCluster> {
  // A random port: the first free one may belong to a server that is just restarting, and all new platforms of this
  // machine would choose it.
  const cluster: PostgresCluster = {
    port: await freePort(FIRST_PORT + randomInt(PORTS)),
    adminPassword: randomBytes(24).toString('base64url'),
  }
  const unfinished = `${directory}.new`
  const passwordFile = `${directory}.password`
  // Left by an interrupted start.
  for (const path of [unfinished, passwordFile]) await rm(path, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(passwordFile, `${cluster.adminPassword}\n`, { mode: 0o600 })
  if (binaries.owner !== undefined)
    for (const path of [unfinished, passwordFile]) await chown(path, binaries.owner, binaries.owner)
  try {
    const [program = '', ...args] = binaries.command(
      'initdb',
      '-D',
      unfinished,
      '-U',
      'postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      // For the server that initdb itself starts.
      `--set=${SHARED_MEMORY}`,
      '--no-instructions',
    )
    await run(program, args, { env: { PATH: process.env.PATH, LC_ALL: 'C' } })
  } catch (error) {
    // Without stderr, initdb could not be started. The last line is about its cleanup, so the line with the reason is
    // searched.
    const lines = (error as { stderr?: string }).stderr?.trim().split('\n') ?? []
    const reason = lines.findLast((line) => /FATAL|PANIC|error:/.test(line)) ?? lines.at(-1) ?? ''
    throw new StartError([`The embedded PostgreSQL could not be created in ${directory}: ${reason || String(error)}`])
  } finally {
    await rm(passwordFile, { force: true })
  }
  // First the passwords, then the data: the data must never exist without them.
  await writeCluster(`${clusterFile}.new`, cluster)
  await rename(unfinished, directory)
  await rename(`${clusterFile}.new`, clusterFile)
  return cluster
}

/** Replaces the file atomically. */
export async function saveCluster(file: string, cluster: PostgresCluster): Promise<void> {
  await writeCluster(`${file}.new`, cluster)
  await rename(`${file}.new`, file)
}

async function writeCluster(file: string, cluster: PostgresCluster): Promise<void> {
  await writeFile(file, JSON.stringify(cluster), { mode: 0o600, flush: true })
}

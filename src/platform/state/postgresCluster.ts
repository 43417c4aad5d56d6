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
/** A new server takes one of so many ports from the first one on, at random: see makeCluster. */
const PORTS = 400

/** What is kept beside the data of the server: its port and passwords. */
const PostgresCluster = z.object({
  /** On 127.0.0.1. Kept as long as it is free, because credentials handed out to users name it. */
  port: z.number(),
  adminPassword: z.string(),
  statePassword: z.string(),
})
export type PostgresCluster = z.infer<typeof PostgresCluster>

/**
 * @returns undefined when the file is missing.
 * @throws StartError when it is there and cannot be read: taken for missing, the server would begin without the data.
 */
export async function readCluster(file: string): Promise<PostgresCluster | undefined> {
  try {
    return PostgresCluster.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === 'ENOENT') return undefined
    if (code !== undefined) throw new StartError([`${file} cannot be read (${code})`])
    throw new StartError([
      `${file} is damaged: bring it back from a backup. It holds the passwords of the embedded PostgreSQL`,
    ])
  }
}

/**
 * Finishes a first start that was cut off just before its end.
 * @returns undefined when there is no data.
 * @throws StartError when there is data and nothing holds its passwords.
 */
export async function finishCluster(directory: string, clusterFile: string): Promise<PostgresCluster | undefined> {
  const isMade = await lstat(directory).then(
    () => true,
    (error: unknown) => errorCodeOf(error) !== 'ENOENT',
  )
  if (!isMade) return undefined
  const cluster = await readCluster(`${clusterFile}.new`)
  if (!cluster)
    throw new StartError([
      `${clusterFile} is missing: bring it back from a backup. It holds the passwords of the PostgreSQL in ${directory}`,
    ])
  await rename(`${clusterFile}.new`, clusterFile)
  return cluster
}

/**
 * Makes the data directory of a new server, with new passwords, and the file that holds them.
 * @throws StartError with what initdb said.
 */
export async function makeCluster(
  directory: string,
  clusterFile: string,
  binaries: PostgresBinaries,
): Promise<PostgresCluster> {
  // Not simply the first free one: a server that is being started again leaves its port for a second, and every platform that is
  // new on this machine would take just that one, for good.
  const cluster: PostgresCluster = {
    port: await freePort(FIRST_PORT + randomInt(PORTS)),
    adminPassword: randomPassword(),
    statePassword: randomPassword(),
  }
  const unfinished = `${directory}.new`
  const passwordFile = `${directory}.password`
  // What a start that was cut off has left.
  for (const path of [unfinished, passwordFile]) await rm(path, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  await writeFile(passwordFile, `${cluster.adminPassword}\n`, { mode: 0o600 })
  if (binaries.owner !== undefined)
    for (const path of [unfinished, passwordFile]) await chown(path, binaries.owner, binaries.owner)
  try {
    const [program, args] = binaries.command(
      'initdb',
      '-D',
      unfinished,
      '-U',
      'postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
    )
    await run(program, args, { env: { PATH: process.env.PATH, LC_ALL: 'C' } })
  } catch (error) {
    // One that could not even be started has said nothing.
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').pop() || String(error)
    throw new StartError([`The embedded PostgreSQL could not be made in ${directory}: ${said}`])
  } finally {
    await rm(passwordFile, { force: true })
  }
  // Before the data is in its place: it is never there without its passwords.
  await writeCluster(`${clusterFile}.new`, cluster)
  await rename(unfinished, directory)
  await rename(`${clusterFile}.new`, clusterFile)
  return cluster
}

/** Replaces the file whole: a kill leaves the old one or the new one. */
export async function saveCluster(file: string, cluster: PostgresCluster): Promise<void> {
  await writeCluster(`${file}.new`, cluster)
  await rename(`${file}.new`, file)
}

async function writeCluster(file: string, cluster: PostgresCluster): Promise<void> {
  await writeFile(file, JSON.stringify(cluster), { mode: 0o600, flush: true })
}

function randomPassword(): string {
  return randomBytes(24).toString('base64url')
}

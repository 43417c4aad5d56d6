import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AppError, errorCodeOf } from '../../errors'
import type { Secrets } from '../../state/secrets'
import { isMongoUnreachable, mongoCodeOf, MongoErrorCode, openMongoClient } from './mongoClient'
import { randomPassword } from '../databaseNames'
import { superviseMongo } from './mongoProgram'

const FIRST_PORT = 27_117
const READY_TIMEOUT_MS = 30_000
/** Time to close its files in order. */
const STOP_TIMEOUT_MS = 8000
/** How long a call waits for a starting server. */
const START_TIMEOUT_MS = 4000
const ADMIN = 'quarterdeck'
const PURPOSE = 'mongod administrator'

export interface Mongod {
  /** The administrator's URL, once the server is ready. @throws AppError UNAVAILABLE */
  url(): Promise<string>
  stop(): Promise<void>
}

/** Runs mongod beside the platform, on 127.0.0.1 with authorization, and stores its random password sealed. */
export function runMongod({
  path,
  directory,
  secrets,
  log,
}: {
  path: string
  directory: string
  secrets: Secrets
  log: Logger
}): Mongod {
  const passwordFile = join(directory, 'administrator')
  let password = ''

  async function readPassword(): Promise<string> {
    const sealed = await readFile(passwordFile, 'utf8').catch((error: unknown) => {
      // A new password is only for new data: nobody could sign in to the existing data with it.
      if (errorCodeOf(error) !== 'ENOENT') throw error
      return undefined
    })
    if (sealed !== undefined) return secrets.unseal(sealed, PURPOSE, ADMIN)
    const made = randomPassword()
    await writeFile(`${passwordFile}.new`, secrets.seal(made, PURPOSE, ADMIN), { mode: 0o600, flush: true })
    await rename(`${passwordFile}.new`, passwordFile)
    return made
  }

  const urlAt = (port: number, credentials: string) =>
    `mongodb://${credentials}127.0.0.1:${port}/admin?directConnection=true`

  /** MongoDB's localhost exception: while there is no user, a local client may create the first. */
  async function makeAdministrator(port: number): Promise<void> {
    const client = await openMongoClient(urlAt(port, ''))
    try {
      await client.db('admin').command({ createUser: ADMIN, pwd: password, roles: ['root'] })
    } finally {
      await client.close()
    }
  }

  async function signIn(port: number): Promise<void> {
    const client = await openMongoClient(urlAt(port, `${ADMIN}:${password}@`), {
      serverSelectionTimeoutMS: 500,
      maxPoolSize: 1,
    })
    try {
      await client.db('admin').command({ ping: 1 })
    } finally {
      await client.close()
    }
  }

  const server = superviseMongo(
    {
      path,
      directory,
      firstPort: FIRST_PORT,
      claimed: new Set(),
      stopTimeoutMs: STOP_TIMEOUT_MS,
      async prepare(port) {
        password = await readPassword()
        await mkdir(join(directory, 'data'), { recursive: true, mode: 0o700 })
        return {
          args: [
            '--dbpath',
            join(directory, 'data'),
            '--port',
            String(port),
            '--bind_ip',
            '127.0.0.1',
            '--auth',
            '--nounixsocket',
            '--wiredTigerCacheSizeGB',
            '0.5',
          ],
        }
      },
      async whenReady(port, ended) {
        const deadline = performance.now() + READY_TIMEOUT_MS
        while (true) {
          try {
            return await signIn(port)
          } catch (error) {
            if (mongoCodeOf(error) === MongoErrorCode.authenticationFailed) await makeAdministrator(port)
            else if (!isMongoUnreachable(error) || ended.aborted || performance.now() > deadline) throw error
            await delay(100)
          }
        }
      },
    },
    log,
  )

  return {
    async url() {
      const late = delay(START_TIMEOUT_MS, undefined, { ref: false }).then(() => {
        throw new AppError('UNAVAILABLE', 'The MongoDB server is starting. Try again in a moment.')
      })
      await Promise.race([server.start(), late])
      return urlAt(await server.port(), `${ADMIN}:${password}@`)
    },
    stop: () => server.stop(),
  }
}

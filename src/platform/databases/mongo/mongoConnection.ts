import type { MongoClient } from 'mongodb'
import type { Logger } from 'pino'
import { AppError } from '../../errors'
import { openMongoClient, mongoFailure } from './mongoClient'

export interface MongoServerParts {
  /** An administrator's URL. Called for each operation; may throw an AppError. */
  url: () => Promise<string>
  title: string
  /** What to do when the server is down, as a sentence. */
  remedy: string
  log: Logger
}

export interface MongoConnection {
  /** Runs work with the administrator's client. @throws AppError for operators */
  run<Result>(work: (client: MongoClient) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

interface OpenedClient {
  url: string
  client: Promise<MongoClient>
  checked?: Promise<void>
}

/** The administrator's connection to a MongoDB server. It is replaced when the URL has changed. */
export function createMongoConnection({ url, title, remedy, log }: MongoServerParts): MongoConnection {
  let connected: OpenedClient | undefined

  /** Synchronous, so that concurrent calls share one client. */
  function connect(now: string): OpenedClient {
    if (connected?.url === now) return connected
    const former = connected
    const opened: OpenedClient = { url: now, client: openMongoClient(now) }
    connected = opened
    opened.client.catch(() => {
      if (connected === opened) connected = undefined
    })
    void closeClient(former)
    return opened
  }

  async function closeClient(connection: OpenedClient | undefined): Promise<void> {
    const client = await connection?.client.catch(() => undefined)
    await client
      ?.close()
      .catch((error: unknown) => log.warn({ err: error }, 'failed to close a connection to a MongoDB server'))
  }

  return {
    async run(work) {
      try {
        const connection = connect(await url())
        const client = await connection.client
        await (connection.checked ??= refuseFerret(client, title))
        return await work(client)
      } catch (error) {
        if (connected) connected.checked = undefined
        throw mongoFailure(error, title, remedy)
      }
    },
    close: () => closeClient(connected),
  }
}

/** @throws AppError UNAVAILABLE for FerretDB, whose users could access every database */
async function refuseFerret(client: MongoClient, title: string): Promise<void> {
  const info = await client.db('admin').command({ buildInfo: 1 })
  if ('ferretdbVersion' in info || 'ferretdb' in info) {
    throw new AppError(
      'UNAVAILABLE',
      `${title} is FerretDB, which cannot keep users out of each other’s databases. Use a MongoDB server, or remove the setting and install ferretdb on the PATH: then each database gets its own process.`,
    )
  }
}

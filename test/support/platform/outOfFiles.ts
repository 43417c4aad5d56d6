import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import pino from 'pino'
import { superviseMongo } from '../../../src/platform/databases/mongo/mongoProgram'
import { openContainedRuntime } from '../../../src/platform/runtime/contained/containedRuntime'
import { HostClient } from '../../../src/platform/runtime/local/hostClient'
import { createJail } from '../../../src/platform/share/jail'
import type { createListing as CreateListing } from '../../../src/platform/share/listing/listing'
import { unpackSevenZip } from '../../../src/platform/share/archives/unpackSevenZip'
import { createReplicas } from '../../../src/platform/share/replicas/replicas'
import { startEmbeddedPostgres } from '../../../src/platform/postgres/embeddedPostgres'
import { PROGRAMS } from '../programs'
import { make7z } from './archives'
import { localSpec } from './instanceSpec'
import { stopHost } from './stopHost'
import { until } from './until'

/** Starting another process may fail at each of the descriptors it needs. */
const FREE = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]

/** Opens files until only this number can still be opened. @returns a function that closes them. */
function leaveFree(count: number): () => void {
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EMFILE') throw error
  }
  for (const fd of taken.splice(0, count)) closeSync(fd)
  return () => taken.forEach((fd) => closeSync(fd))
}

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: Error & { code?: string }) => `${error.code ?? error.name}: ${error.message}`,
  )
const log = pino({ level: 'silent' })

/** Returns the outcomes with an increasing number of free descriptors, and at last with enough of them. */
type Scenario = (directory: string) => Promise<string[]>

/** Repeats independent work with each number of free descriptors. */
async function sweep(work: () => Promise<unknown>): Promise<string[]> {
  const outcomes: string[] = []
  for (const free of [...FREE, undefined]) {
    const release = free === undefined ? () => undefined : leaveFree(free)
    const said = await outcome(work())
    release()
    // An 'error' event without a listener would be thrown by now.
    await delay(20)
    outcomes.push(said)
  }
  return outcomes
}

const scenarios: Record<string, Scenario> = {
  async listing(directory) {
    // Compiled, because a worker from source would run out of descriptors while it is being compiled.
    const { createListing } = (await import(join(PROGRAMS, 'platform/share/listing/listing.js'))) as {
      createListing: typeof CreateListing
    }
    return sweep(async () => {
      const listing = createListing(createJail(directory))
      await listing.list('/nfsshare', null).finally(() => listing.close())
    })
  },

  async sevenZip(directory) {
    writeFileSync(join(directory, 'a.7z'), await make7z({ 'a.txt': 'x' }))
    const jail = createJail(directory)
    const archive = await open(join(directory, 'a.7z'))
    let count = 0
    return sweep(async () => {
      const name = `to-${count++}`
      mkdirSync(join(directory, name))
      const to = await jail.openDirectory([name])
      const limits = { entries: 10, size: 1000 }
      await unpackSevenZip(archive, 'a.7z', '7z', to, limits, {
        signal: new AbortController().signal,
        progress: () => undefined,
      }).finally(() => to.close())
    }).finally(() => archive.close())
  },

  async server(directory) {
    let count = 0
    return sweep(async () => {
      const server = superviseMongo(
        {
          path: '/bin/sleep',
          directory: join(directory, String(count++)),
          firstPort: 29_500,
          claimed: new Set(),
          stopTimeoutMs: 1000,
          prepare: async () => ({ args: ['60'] }),
          whenReady: async () => undefined,
        },
        log,
      )
      await server.start().finally(() => server.stop())
    })
  },

  /** Retries until descriptors are free. */
  async host(directory) {
    const release = leaveFree(0)
    const open = outcome(
      HostClient.open(directory, { changed: () => undefined, lines: () => undefined, closed: () => undefined }).then(
        (host) => host.close(),
      ),
    )
    await delay(500)
    release()
    const said = await open
    await stopHost(directory)
    return [said]
  },

  async contained(directory) {
    const shareDir = join(directory, 'share')
    mkdirSync(shareDir)
    const dataDir = join(directory, 'data')
    mkdirSync(dataDir, { mode: 0o711 })
    const replicas = createReplicas(dataDir, log)
    const runtime = await openContainedRuntime({ dataDir, shareDir, programs: [], replicas, log })
    await runtime.ensure(localSpec({ podName: 'survivor', command: ['sleep', '60'], directory: shareDir }))
    const find = async () => (await runtime.list())[0]
    const before = await find()
    const release = leaveFree(0)
    // Its end is looked for every second.
    await delay(2500)
    release()
    const after = await find()
    await runtime.kill('survivor')
    await until(find, (run) => run?.state === 'EXITED')
    await runtime.close()
    await replicas.close()
    return [`${after?.state} ${after?.runId === before?.runId ? 'still' : 'again'}`]
  },

  async postgres(directory) {
    const postgres = await startEmbeddedPostgres(directory, 'databases', log)
    const postmaster = join(directory, 'postgres/postmaster.pid')
    process.kill(Number(readFileSync(postmaster, 'utf8').split('\n')[0]), 'SIGINT')
    const release = leaveFree(0)
    // It is restarted after a second.
    await delay(1500)
    release()
    const isUp = async () => {
      const client = new Client({ connectionString: postgres.adminUrl })
      client.on('error', () => undefined)
      return client
        .connect()
        .then(() => client.end())
        .then(
          () => true,
          () => false,
        )
    }
    const said = await outcome(until(isUp))
    await postgres.stop()
    return [said]
  },
}

// Idle worker processes do not keep this one alive.
setInterval(() => undefined, 1000)
const [name = '', directory = ''] = process.argv.slice(2)
void scenarios[name]!(directory).then((outcomes) => {
  console.log(JSON.stringify(outcomes))
  process.exit(0)
})

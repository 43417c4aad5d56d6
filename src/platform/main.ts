import './noDebugger'
import { setFlagsFromString } from 'node:v8'
import pino, { type Logger } from 'pino'
import { readSettings } from './config'
import { createPlatform } from './createPlatform'
import { StartError } from './errors'
import type { Ending } from './http/ending'
import { listen, requireFreeAddress, warnOfFreePort } from './listen'
import type { Closers } from './surroundings'

/** Timeout of an orderly shutdown, after the announcement of a replica's end. */
const CLOSE_TIMEOUT_MS = 10_000
/** Characters of the log that are buffered while it cannot be written. */
const LOG_BUFFER = 2 ** 20
const LOG_RETRY_MS = 250

/**
 * Threads for accesses to files, cryptography and compression (libuv). When the shared area hangs, operations in
 * progress there keep their threads, and the rest of the platform needs some. Must be set before the first use.
 */
const THREADS = 64

/**
 * How much the heap may grow before the next full garbage collection, in percent of what was in use after the last one.
 * V8's default is up to 300 on machines with much memory, and the platform took 370 MiB for 80 MiB in use (1,000
 * instances).
 */
const HEAP_GROWTH_PERCENT = 40

interface Greeting {
  /** The URL that the platform listens on. */
  address: string
  publicUrl: string | undefined
  /** The first invite code, as long as there are no users. */
  invite: string | undefined
  /** Why instances run as plain processes although containers were wanted. */
  plainReason: string | undefined
}

/** Prints where the console is, and what the operator has to do. */
function greet({ address, publicUrl, invite, plainReason }: Greeting): void {
  const url = publicUrl ?? address
  console.log(`\n  Quarterdeck is ready: ${url}${publicUrl === undefined ? '' : ` (it listens on ${address})`}`)
  if (plainReason !== undefined) {
    console.log(
      `\n  Instances are not isolated: they run as plain processes and may do what this user may do (${plainReason}).`,
    )
    console.log('  Install runc, conmon and socat, or see "Isolation" in the README.')
  }
  if (invite !== undefined) {
    console.log(
      `\n  There are no users yet. Register the first administrator with this invite code:\n\n      ${invite}\n`,
    )
    console.log(`  or open ${url}/register?invite=${encodeURIComponent(invite)}\n`)
  } else {
    console.log('')
  }
}

/**
 * Logs JSON lines to standard error. A closed reader or a full disk loses lines but does not end the process. A reader
 * that hangs does not stop it: lines are buffered, those beyond the buffer are lost.
 */
function openLog(level: string): Logger {
  const ignore = () => undefined
  const destination = pino.destination({ fd: 2, sync: true, maxLength: LOG_BUFFER, retryEAGAIN: () => false })
  let retry: NodeJS.Timeout | undefined
  destination.on('error', () => {
    retry ??= setTimeout(() => {
      retry = undefined
      // An empty write makes the destination try its buffer again.
      destination.write('')
    }, LOG_RETRY_MS).unref()
  })
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignore)
  return pino({ level }, destination)
}

async function main(): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  process.env.UV_THREADPOOL_SIZE ??= String(THREADS)
  const [argument] = process.argv.slice(2)
  if (argument !== undefined)
    throw new StartError([
      `Quarterdeck takes no arguments such as ${argument}: its settings are environment variables (README, "Settings")`,
    ])
  const settings = readSettings(process.env)
  const log = openLog(settings.logLevel)
  const closers: Closers = []
  let closing: Promise<void> | undefined
  let ending: Ending | undefined
  const close = () =>
    (closing ??= (async () => {
      for (const closer of closers.reverse())
        await closer().catch((error: unknown) => log.warn({ err: error }, 'failed to close a part of the platform'))
    })())
  const end = (code: number) => {
    setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS).unref()
    void close().then(() => process.exit(code))
  }
  // Other replicas serve while this one ends.
  process.on('SIGTERM', () => void (ending?.begin() ?? Promise.resolve()).then(() => end(0)))
  process.on('SIGINT', () => end(0))
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled error'))
  // The process may be in an invalid state, so it shuts down in order. Instances continue.
  process.on('uncaughtException', (error) => {
    // A further error does not end the shutdown, which has a timeout.
    if (closing) return log.fatal({ err: error }, 'another unhandled error')
    log.fatal({ err: error }, 'unhandled error; the platform shuts down')
    end(1)
  })
  try {
    const platform = await createPlatform(settings, {
      log,
      closers,
      onLost: () => end(1),
      onLocked: () => requireFreeAddress(settings, process.env),
    })
    const { app, registration, runtime, plainReason } = platform
    if (platform.isReplica) ending = platform.ending
    // Before health can report the platform as ready: automation registers then.
    const invite = await registration.firstInvite(settings.firstInvite)
    const { url, isPassed } = await listen(app, settings, process.env)
    if (!isPassed) await warnOfFreePort(Number(new URL(url).port), settings, runtime.isolation, log)
    greet({ address: url, publicUrl: settings.publicUrl, invite, plainReason })
  } catch (error) {
    await close()
    throw error
  }
}

main().catch((error: unknown) => {
  if (error instanceof StartError) for (const line of error.lines) console.error(line)
  else console.error(`Quarterdeck could not start: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
})

import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { CoreV1Api } from '@kubernetes/client-node'
import pLimit from 'p-limit'
import { WebSocket } from 'ws'
import { AppError } from '../../errors'
import { createAgentPool } from '../../kubernetes/agentPool'
import { readText } from '../../kubernetes/boundedBody'
import { statusOf } from '../../kubernetes/clusterFailure'
import {
  readClusterConfig,
  withDeadline,
  type ClusterConfig,
  type ClusterSource,
} from '../../kubernetes/clusterConnection'
import { clusterDoesNotAnswer } from '../contact'

/** Timeout of a request, and of the start of a streamed response. */
const REQUEST_TIMEOUT_MS = 5000
/**
 * Maximum number of concurrent requests. More would slow each other down, and the API server rejects requests above its
 * limit.
 */
const MAX_CALLS = 20
/** A request that has been queued for longer than this fails. */
const MAX_QUEUE_MS = 10_000
/** How long a configuration is used before it is read again, because it may be renewed. */
const CONFIG_MS = 60_000
/** Minimum time between two reads of a configuration whose credentials the server refuses. */
const REFUSED_CONFIG_MS = 5000
/** TCP probes detect a peer that has vanished while a stream is idle. */
const KEEP_ALIVE_MS = 10_000
/** Maximum size of the body of a refusal. */
const MAX_REFUSAL_BYTES = 64 * 1024
/** Maximum length of a refusal's message. Consoles and the activity log show it. */
const MAX_MESSAGE_LENGTH = 1000
/** Subprotocols of attaching. In both, the first byte of a message names its stream. */
const ATTACH_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
/** Maximum size of a message from the server while attached. Only the end of the connection is expected. */
const MAX_ATTACH_MESSAGE_BYTES = 64 * 1024

/** A refused request: the status and the message of the API server. */
export class ClusterRefusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** Why a valid Pod is forbidden for a while: a quota, a missing right, a namespace that is being deleted or made. */
const TEMPORARILY_FORBIDDEN = /exceeded quota|cannot \w+ resource|is being terminated|error looking up service account/

/** Whether the reason lies with the cluster and passes. Otherwise it is the request: invalid, or against a policy. */
export function isTemporaryRefusal({ status, message }: ClusterRefusal): boolean {
  return status === 403 ? TEMPORARILY_FORBIDDEN.test(message) : status !== 400 && status !== 422
}

/** Requests to the cluster's API server. */
export interface ClusterClient {
  readonly namespace: string
  /**
   * Runs an operation within a deadline. @throws ClusterRefusal; AppError UNAVAILABLE if the cluster does not answer
   */
  call<Result>(work: (core: CoreV1Api, client: ClusterConfig['client']) => Promise<Result>): Promise<Result>
  /**
   * Reads a resource as a stream, for as long as the server sends it.
   * @param path such as `/api/v1/namespaces/games/pods`
   * @throws ClusterRefusal; AppError UNAVAILABLE if the cluster does not answer
   */
  stream(path: string, query: Record<string, string>, signal: AbortSignal): Promise<IncomingMessage>
  /** Connects to the standard input of a Pod's container. @throws as `call` */
  connectInput(podName: string, container: string): Promise<WebSocket>
}

/** @param namespace the instances' namespace */
export function createClusterClient(source: ClusterSource, namespace: string): ClusterClient {
  const limit = pLimit(MAX_CALLS)
  const agentFor = createAgentPool()
  let known: { config: Promise<ClusterConfig>; readAt: number; maxAgeMs: number } | undefined

  function readConfig(): Promise<ClusterConfig> {
    if (known && performance.now() < known.readAt + known.maxAgeMs) return known.config
    const config = readClusterConfig(source)
    const entry = { config, readAt: performance.now(), maxAgeMs: CONFIG_MS }
    known = entry
    config.catch(() => {
      if (known === entry) known = undefined
    })
    return config
  }

  /** As the function of this module; after a refusal of its credentials, the configuration is read again soon. */
  function failureOfRequest(error: unknown): Error {
    const failure = failureOf(error)
    if (known && failure instanceof ClusterRefusal && failure.status === 401) known.maxAgeMs = REFUSED_CONFIG_MS
    return failure
  }

  return {
    namespace,
    call(work) {
      const queuedAt = performance.now()
      return limit(async () => {
        if (performance.now() - queuedAt > MAX_QUEUE_MS) throw clusterDoesNotAnswer()
        const config = await readConfig()
        try {
          const { configuration, expired } = withDeadline(config, REQUEST_TIMEOUT_MS, agentFor)
          return await Promise.race([work(new config.client.CoreV1Api(configuration), config.client), expired])
        } catch (error) {
          throw failureOfRequest(error)
        }
      })
    },
    async stream(path, query, signal) {
      const { config, server } = await readConfig()
      const options: RequestOptions = {}
      // A credential plugin may hang.
      await withTimeout(config.applyToHTTPSOptions(options))
      options.agent = agentFor(options.agent)
      const url = `${server}${path}?${new URLSearchParams(query).toString()}`
      return openStream(url, options, signal).catch((error: unknown) => {
        throw failureOfRequest(error)
      })
    },
    async connectInput(podName, container) {
      // Without the library, which throws uncatchable errors for empty or unknown messages of the server.
      const { config, server } = await readConfig()
      const options: RequestOptions = {}
      await withTimeout(config.applyToHTTPSOptions(options))
      const query = new URLSearchParams({ container, stdin: 'true', stdout: 'false', stderr: 'false', tty: 'false' })
      const url = `${server}/api/v1/namespaces/${namespace}/pods/${podName}/attach?${query.toString()}`
      return openSocket(url.replace(/^http/, 'ws'), options)
    },
  }
}

function openSocket(url: string, options: RequestOptions): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, ATTACH_PROTOCOLS, {
      ...(options as object),
      handshakeTimeout: REQUEST_TIMEOUT_MS,
      maxPayload: MAX_ATTACH_MESSAGE_BYTES,
    })
    // Stays registered after the opening, when 'close' follows an error.
    socket.on('error', (error) => reject(failureOf(error)))
    socket.once('open', () => resolve(socket))
  })
}

function openStream(url: string, options: RequestOptions, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? requestHttps : requestHttp)(url, { ...options, method: 'GET', signal })
    const timer = setTimeout(() => request.destroy(new Error('timed out')), REQUEST_TIMEOUT_MS)
    request.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS))
    // Stays registered after the response has begun, when the reader of the response gets the error too.
    request.on('error', (error) => {
      clearTimeout(timer)
      reject(failureOf(error))
    })
    request.on('response', (response) => {
      if (response.statusCode === 200) {
        clearTimeout(timer)
        return resolve(response)
      }
      // The same timeout applies, because the body of a refusal may never end.
      const refusal = readText(response, MAX_REFUSAL_BYTES).finally(() => clearTimeout(timer))
      refusal.then(
        (body) => reject(new ClusterRefusal(response.statusCode ?? 0, messageOf(body))),
        (error: unknown) => reject(failureOf(error)),
      )
    })
    request.end()
  })
}

/** @throws ClusterRefusal; AppError UNAVAILABLE, also when the time is up */
async function withTimeout<Result>(promise: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(failureOf(new Error('timed out'))), REQUEST_TIMEOUT_MS)
  })
  try {
    return await Promise.race([promise, timeout])
  } catch (error) {
    throw failureOf(error)
  } finally {
    clearTimeout(timer)
  }
}

function failureOf(error: unknown): Error {
  if (error instanceof AppError || error instanceof ClusterRefusal) return error
  const status = statusOf(error)
  if (status !== undefined) {
    const { body } = error as { body?: unknown }
    return new ClusterRefusal(
      status,
      typeof body === 'string' ? messageOf(body) : shortened((body as { message?: unknown } | null)?.message),
    )
  }
  const failure = clusterDoesNotAnswer()
  failure.cause = error
  return failure
}

/** The message of a Status object, or the start of another text. */
function messageOf(body: string): string {
  try {
    return shortened((JSON.parse(body) as { message?: unknown }).message)
  } catch {
    return body.slice(0, 300)
  }
}

const shortened = (message: unknown) => (typeof message === 'string' ? message.slice(0, MAX_MESSAGE_LENGTH) : '')

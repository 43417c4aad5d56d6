import { randomUUID } from 'node:crypto'
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Logger } from 'pino'
import type { ActivityLog } from './accounts/activityLog'
import { createTrustedProxies } from './accounts/clientAddress'
import type { Invites } from './accounts/invites'
import type { OwnPassword } from './accounts/ownPassword'
import type { Registration } from './accounts/registration'
import type { SignIn } from './accounts/signIn'
import type { Users } from './accounts/users'
import type { Databases } from './databases/databases'
import type { Deployments } from './deployments/deployments'
import type { Discovery } from './deployments/discovery'
import type { Metrics } from './deployments/metrics'
import { guardRoutes } from './http/access'
import { accountRoutes } from './http/account'
import { recordActivity } from './http/activity'
import { createAnswersUnderWay, limitAnswers } from './http/answersUnderWay'
import { adminRoutes } from './http/admin'
import { authRoutes } from './http/auth'
import { dashboardRoutes } from './http/dashboard'
import { databaseRoutes } from './http/databases'
import { deploymentRoutes } from './http/deployments'
import { discoveryRoutes } from './http/discovery'
import { AppError } from './errors'
import { endConnections, limitConnections } from './http/connections'
import { answerFailures, answerUnreadable, bodyOf } from './http/envelope'
import { healthRoutes, type HealthChecks } from './http/health'
import { fileRoutes, type FileRouteParts } from './http/files'
import { readJsonBodies } from './http/jsonBody'
import { isOfThisMachine, nameLocalPeers, warnOfLocalProxies } from './http/localPeers'
import { metricRoutes } from './http/metrics'
import { networkRoutes, type Network } from './http/network'
import { pageRoutes } from './http/page'
import { warnOfUnnamedProxies } from './http/unnamedProxy'
import { uploadRoutes, type UploadRouteParts } from './http/uploads'
import type { Files } from './share/files'
import type { Dashboard } from './kubernetes/dashboard'
import type { Replicas } from './share/replicas'
import { openConsoleChannel, type ConsoleParts } from './sockets/consoleChannel'
import { openRealtime } from './sockets/realtime'

/** JSON bodies are at most this long (decisions §1). In bytes. */
const BODY_LIMIT = 2 ** 20

export interface Parts
  extends Omit<ConsoleParts, 'proxies'>, Omit<FileRouteParts, 'deploymentTypeIndexAt' | 'answers'>, UploadRouteParts {
  files: Files
  log: Logger
  /** Addresses or networks. */
  trustedProxies: string[]
  signIn: SignIn
  registration: Registration
  activityLog: ActivityLog
  ownPassword: OwnPassword
  users: Users
  invites: Invites
  dashboard: Dashboard
  deployments: Deployments
  discovery: Pick<Discovery, 'peersOf'>
  databases: Databases
  network: Network
  metrics: Metrics
  health: HealthChecks
  replicas: Pick<Replicas, 'state' | 'onSync'>
  /** The built console. */
  webDir: string
}

/** How long a JSON body may take to arrive. In milliseconds. */
const BODY_MS = 20_000

/** Without the query, which may hold a ticket, and without an invite code, which stays good when its deletion failed. */
function loggedPath({ url, routeOptions }: FastifyRequest): string | undefined {
  return routeOptions.url?.endsWith('/:code') ? routeOptions.url : url.split('?')[0]
}

/** Wires the platform's parts to HTTP and sockets. The caller listens, and closes it. */
export async function createApp(parts: Parts, { bodyMs = BODY_MS } = {}): Promise<FastifyInstance> {
  // As the interface that routes know, not as pino's own type.
  const loggerInstance: FastifyBaseLogger = parts.log
  // Contained instances of a platform that root starts have user ids of their own.
  const areInstancesKnown = parts.runtime.isolation === 'contained' && process.getuid?.() === 0
  const proxies = createTrustedProxies(parts.trustedProxies, areInstancesKnown ? isOfThisMachine : undefined)
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: BODY_LIMIT,
    trustProxy: parts.trustedProxies.length > 0 ? proxies.believes : false,
    routerOptions: { maxParamLength: 500 },
    forceCloseConnections: true,
    // What comes in over an open connection while the last answers are given gets one of its own.
    return503OnClosing: false,
    // On a busy machine the default of 10 s ends a start that would have come about.
    pluginTimeout: 60_000,
    clientErrorHandler: answerUnreadable,
    // Node.js would answer a request without it by itself, in no form of ours.
    http: { requireHostHeader: false },
    // Addresses that cannot be read fail before there is a route to ask.
    frameworkErrors: (_error, _request, reply) =>
      void (reply as FastifyReply).code(400).send(bodyOf(new AppError('INVALID_INPUT', 'The address is not valid.'))),
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  readJsonBodies(app, bodyMs)
  // Simple content types need no leave of another site's browser (CORS): only JSON is read.
  app.removeContentTypeParser('text/plain')
  if (areInstancesKnown) nameLocalPeers(app.server, app.log)
  else warnOfLocalProxies(proxies, app.log)
  limitConnections(app, proxies)
  warnOfUnnamedProxies(app, proxies)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined)
      throw new AppError('INVALID_INPUT', 'The request names no host.')
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, ip } = request
    request.log.debug(
      {
        method,
        path: loggedPath(request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        ip,
        user: request.user?.username,
      },
      'request',
    )
  })
  answerFailures(app)
  const answers = createAnswersUnderWay()
  limitAnswers(app, answers)
  recordActivity(app, parts.activityLog)
  guardRoutes(app, parts.sessions)
  healthRoutes(app, parts.health, parts.runtime.isolation, () => parts.network.disks())
  authRoutes(app, parts)
  accountRoutes(app, parts)
  dashboardRoutes(app, parts.dashboard)
  networkRoutes(app, parts.network)
  deploymentRoutes(app, parts.deployments)
  discoveryRoutes(app, parts.discovery)
  databaseRoutes(app, parts.databases)
  metricRoutes(app, parts.metrics)
  fileRoutes(app, { ...parts, answers, deploymentTypeIndexAt: (path) => parts.deployments.typeIndexAt(path) })
  const endUploads = await uploadRoutes(app, parts)
  const onRemoved = (userId: number) => {
    endUploads(userId)
    parts.files.jobs.endOf(userId)
  }
  adminRoutes(app, { ...parts, onRemoved })
  await pageRoutes(app, parts.webDir)
  openRealtime(app, parts)
  openConsoleChannel(app, { ...parts, proxies })
  endConnections(app)
  return app
}

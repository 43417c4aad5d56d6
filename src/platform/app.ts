import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Logger } from 'pino'
import type { ActivityLog } from './accounts/activityLog'
import type { ApiKeys } from './accounts/apiKeys'
import type { Sessions } from './accounts/sessions'
import { createTrustedProxies } from './accounts/clientAddress'
import type { OpenId } from './accounts/openid/openId'
import type { Invites } from './accounts/invites'
import type { OwnPassword } from './accounts/ownPassword'
import type { Registration } from './accounts/registration'
import type { SignIn } from './accounts/signIn'
import type { SignInMethods } from './accounts/signInMethods'
import type { Users } from './accounts/users'
import type { Databases } from './databases/databases'
import type { Deployments } from './deployments/deployments'
import type { Discovery } from './deployments/monitoring/discovery'
import type { Metrics } from './deployments/monitoring/metrics'
import { createActiveWork } from './http/activeWork'
import { createFileAccess } from './http/fileAccess'
import { guardRoutes } from './http/access'
import { refuseOtherMethods } from './http/allowedMethods'
import { keyRoutes } from './http/routes/accounts/keys'
import { accountRoutes } from './http/routes/accounts/account'
import { recordActivity } from './http/activity'
import { createResponseBuffers, limitResponses } from './http/limits/responseLimits'
import { adminRoutes } from './http/routes/admin'
import { authRoutes } from './http/routes/accounts/auth'
import { dashboardRoutes } from './http/routes/dashboard'
import { databaseRoutes } from './http/routes/databases'
import { deploymentRoutes } from './http/routes/deployments'
import { AppError } from './errors'
import { createAuthenticationLimit } from './http/limits/callLimit'
import { limitChangesInFlight } from './http/limits/changesInFlight'
import { closeConnectionsOnShutdown, limitConnections } from './http/limits/connections'
import { limitPipelining } from './http/limits/pipelining'
import { announceEnding, type Ending } from './http/ending'
import { answerFailures, answerUnreadable, bodyOf, EARLY_REFUSAL_HEADERS } from './http/envelope'
import { healthRoutes, type HealthChecks } from './http/routes/health'
import { fileRoutes, type FileRouteParts } from './http/routes/files'
import { readJsonBodies } from './http/jsonBody'
import { answerOddRequests } from './http/oddRequests'
import { isOfThisMachine, labelLocalConnections, warnOfLocalProxies } from './http/proxies/localConnections'
import { describeCalls, openApiRoute } from './http/openapi/document'
import { discoveryRoutes, metricRoutes, networkRoutes, type Network } from './http/routes/network'
import { openIdRoutes } from './http/routes/accounts/openId'
import { passkeySignInRoutes } from './http/routes/accounts/passkeySignIn'
import { signInMethodRoutes } from './http/routes/accounts/signInMethods'
import { createOverview } from './http/overview'
import { validatorCompiler } from './http/requestValidator'
import type { Router } from './http/router'
import { pageRoutes } from './http/routes/page'
import { referenceRoutes } from './http/routes/reference'
import { removeBasePath } from './http/subPath'
import { warnOfUnlistedProxies } from './http/proxies/unlistedProxy'
import { userAdminRoutes } from './http/routes/userAdmin'
import { uploadRoutes, type UploadRouteParts } from './http/routes/uploads'
import type { Files } from './share/files'
import type { Dashboard } from './kubernetes/dashboard'
import type { SyncSource } from './share/replicas/replicas'
import { UpgradableMessage } from './sockets/upgradableMessage'
import { openConsoleChannel, type ConsoleParts } from './sockets/consoleChannel'
import { createHandshakeAuthentication, hostsNamedBy } from './sockets/handshake'
import { openRealtime } from './sockets/realtime'

/** In bytes, for JSON bodies (decisions §1). */
const BODY_LIMIT = 2 ** 20

export interface Parts
  extends
    Omit<ConsoleParts, 'proxies' | 'authenticate'>,
    Pick<FileRouteParts, 'fileJobs' | 'tickets'>,
    Pick<UploadRouteParts, 'uploadLimit'> {
  files: Files
  sessions: Sessions
  apiKeys: ApiKeys
  log: Logger
  /** Addresses or networks. */
  trustedProxies: string[]
  signIn: SignIn
  signInMethods: SignInMethods
  registration: Registration
  activityLog: ActivityLog
  ownPassword: OwnPassword
  /** Undefined if it is not configured. */
  openId: OpenId | undefined
  users: Users
  invites: Invites
  dashboard: Dashboard
  deployments: Deployments
  discovery: Pick<Discovery, 'peersOf'>
  databases: Databases
  network: Network
  metrics: Metrics
  health: HealthChecks
  sync: SyncSource
  isReplica: boolean
  /** The directory of the built console. */
  webDir: string
  /** The path of the console's public address; empty for none. */
  basePath: string
  /** The console's public address, if it is configured. */
  publicUrl: string | undefined
}

export interface App {
  app: FastifyInstance
  ending: Ending
}

/** Time for a JSON body to arrive. */
const BODY_MS = 20_000

/** Omits the query, which may hold a ticket, and an invite code, which is still valid if its deletion failed. */
function loggedPath({ url, routeOptions }: FastifyRequest): string | undefined {
  return routeOptions.url?.endsWith('/:code') ? routeOptions.url : url.split('?')[0]
}

/** Connects the platform's parts to HTTP and sockets. The caller listens and closes. */
export async function createApp(
  parts: Parts,
  { bodyMs = BODY_MS }: { bodyMs?: number | undefined } = {},
): Promise<App> {
  // The type that routes know, not pino's own.
  const loggerInstance: FastifyBaseLogger = parts.log
  // A platform that runs as root gives contained instances user ids of their own.
  const areInstancesKnown = parts.runtime.isolation === 'contained' && process.getuid?.() === 0
  const proxies = createTrustedProxies(parts.trustedProxies, areInstancesKnown ? isOfThisMachine : undefined)
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: BODY_LIMIT,
    trustProxy: parts.trustedProxies.length > 0 ? proxies.isTrustedHop : false,
    routerOptions: { maxParamLength: 500 },
    forceCloseConnections: true,
    // Requests on open connections are still answered while the platform closes.
    return503OnClosing: false,
    // On a busy machine the default of 10 s aborts slow starts.
    pluginTimeout: 60_000,
    clientErrorHandler: answerUnreadable,
    // Otherwise Node.js itself answers a request without Host header, in another format than ours.
    http: { requireHostHeader: false, IncomingMessage: UpgradableMessage },
    // Malformed URLs fail before routing and hooks.
    frameworkErrors: (_error, { id }, reply) =>
      void (reply as FastifyReply)
        .code(400)
        .headers({ ...EARLY_REFUSAL_HEADERS, 'x-request-id': id })
        .send(bodyOf(new AppError('INVALID_INPUT', 'The URL is not valid.'))),
  }).withTypeProvider<ZodTypeProvider>()
  answerOddRequests(app)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  readJsonBodies(app, bodyMs)
  // Browsers send simple content types across sites without a preflight (CORS), so only JSON is parsed.
  app.removeContentTypeParser('text/plain')
  if (areInstancesKnown) labelLocalConnections(app.server, app.log)
  else warnOfLocalProxies(proxies, app.log)
  limitConnections(app, proxies)
  warnOfUnlistedProxies(app, proxies)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const hosts = hostsNamedBy(request.raw)
    if (request.raw.httpVersion === '1.1' && hosts === 0)
      throw new AppError('INVALID_INPUT', 'The request has no Host header.')
    // Node.js uses the first Host header, and a proxy may have used the last (RFC 9112 §3.2).
    if (hosts > 1) throw new AppError('INVALID_INPUT', 'The request has more than one host.')
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
  refuseOtherMethods(app)
  limitResponses(app, createResponseBuffers())
  recordActivity(app, parts.activityLog)
  const authenticationLimit = createAuthenticationLimit()
  guardRoutes(app, parts.callers, authenticationLimit)
  limitChangesInFlight(app)
  await describeCalls(app, parts.basePath)
  const ending = announceEnding(app)
  await addRoutes(app, parts, ending)
  const authenticate = createHandshakeAuthentication(parts.callers, proxies, authenticationLimit)
  openRealtime(app, { ...parts, authenticate })
  openConsoleChannel(app, { ...parts, authenticate, proxies })
  removeBasePath(app.server, parts.basePath)
  limitPipelining(app.server)
  closeConnectionsOnShutdown(app)
  return { app, ending }
}

async function addRoutes(app: Router, parts: Parts, ending: Ending): Promise<void> {
  healthRoutes(
    app,
    parts.health,
    parts.runtime.isolation,
    () => parts.network.disks(),
    () => ending.hasBegun,
  )
  authRoutes(app, parts)
  passkeySignInRoutes(app, parts)
  openIdRoutes(app, parts)
  accountRoutes(app, parts)
  signInMethodRoutes(app, parts)
  keyRoutes(app, parts)
  dashboardRoutes(app, parts.dashboard)
  networkRoutes(app, parts.network)
  const overview = createOverview(parts.deployments, parts.network)
  deploymentRoutes(app, parts.deployments, overview)
  discoveryRoutes(app, parts.discovery)
  databaseRoutes(app, parts.databases)
  metricRoutes(app, parts.metrics)
  const fileAccess = createFileAccess(parts.files, () => parts.deployments.list())
  const activeWork = createActiveWork({ ...parts, fileAccess })
  fileRoutes(app, {
    ...parts,
    fileAccess,
    activeWork,
    deploymentTypeIndexAt: (path) => parts.deployments.deploymentTypeIndexAt(path),
  })
  await uploadRoutes(app, { ...parts, fileAccess, activeWork })
  adminRoutes(app, parts)
  userAdminRoutes(app, parts)
  openApiRoute(app)
  await pageRoutes(app, parts.webDir, parts.basePath)
  referenceRoutes(app, join(parts.webDir, '../reference'))
}

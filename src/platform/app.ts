import { randomUUID } from 'node:crypto'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Logger } from 'pino'
import type { Registration } from './accounts/registration'
import type { SignIn } from './accounts/signIn'
import type { Deployments } from './deployments/deployments'
import type { Metrics } from './deployments/metrics'
import { guardRoutes } from './http/access'
import { authRoutes } from './http/auth'
import { deploymentRoutes } from './http/deployments'
import { answerFailures } from './http/envelope'
import { healthRoutes, type HealthChecks } from './http/health'
import { metricRoutes } from './http/metrics'
import { networkRoutes, type Network } from './http/network'
import { pageRoutes } from './http/page'
import type { Replicas } from './share/replicas'
import { openConsoleChannel, type ConsoleParts } from './sockets/consoleChannel'
import { openRealtime } from './sockets/realtime'

/** JSON bodies are at most this long (decisions §1). In bytes. */
const BODY_LIMIT = 2 ** 20

export interface Parts extends ConsoleParts {
  log: Logger
  signIn: SignIn
  registration: Registration
  deployments: Deployments
  network: Network
  metrics: Metrics
  health: HealthChecks
  replicas: Pick<Replicas, 'isSynced' | 'onSync'>
  /** The built console. */
  webDir: string
  trustedProxies: string[]
}

/** Wires the platform's parts to HTTP and sockets. The caller listens, and closes it. */
export async function createApp(parts: Parts): Promise<FastifyInstance> {
  // As the interface that routes know, not as pino's own type.
  const loggerInstance: FastifyBaseLogger = parts.log
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: BODY_LIMIT,
    trustProxy: parts.trustedProxies.length > 0 ? parts.trustedProxies : false,
    routerOptions: { maxParamLength: 500 },
    requestTimeout: 0,
    forceCloseConnections: true,
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  // Simple content types need no leave of another site's browser (CORS): only JSON is read.
  app.removeContentTypeParser('text/plain')
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    // Without its query: that may hold a ticket.
    const { method, url, ip } = request
    request.log.debug({ method, path: url.split('?')[0], status: reply.statusCode, ms: Math.round(reply.elapsedTime), ip, user: request.user?.username }, 'request')
  })
  answerFailures(app)
  guardRoutes(app, parts.sessions)
  healthRoutes(app, parts.health)
  authRoutes(app, parts)
  networkRoutes(app, parts.network)
  deploymentRoutes(app, parts.deployments)
  metricRoutes(app, parts.metrics)
  await pageRoutes(app, parts.webDir)
  openRealtime(app, parts)
  openConsoleChannel(app, parts)
  return app
}

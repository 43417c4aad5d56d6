import { randomUUID } from 'node:crypto'
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance, type FastifyReply } from 'fastify'
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import type { Logger } from 'pino'
import type { Registration } from './accounts/registration'
import type { SignIn } from './accounts/signIn'
import type { Deployments } from './deployments/deployments'
import type { Metrics } from './deployments/metrics'
import { guardRoutes } from './http/access'
import { authRoutes } from './http/auth'
import { deploymentRoutes } from './http/deployments'
import { AppError } from './errors'
import { answerFailures, bodyOf } from './http/envelope'
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

/** How long a JSON body may take to arrive. In milliseconds. */
const BODY_MS = 20_000

/** JSON bodies: an empty one is none, a slow one is refused. */
function readJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text === '') done(null, undefined)
    else void parse(request, String(text), done)
  })
  app.addHook('preParsing', async ({ headers, raw }, reply) => {
    if (!headers['content-type']?.startsWith('application/json')) return
    const timer = setTimeout(() => {
      reply.header('connection', 'close')
      raw.destroy()
    }, BODY_MS)
    timer.unref()
    raw.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer))
  })
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
    forceCloseConnections: true,
    // Addresses that cannot be read fail before there is a route to ask.
    frameworkErrors: (_error, _request, reply) => void (reply as FastifyReply).code(400).send(bodyOf(new AppError('INVALID_INPUT', 'The address is not valid.'))),
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  readJson(app)
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

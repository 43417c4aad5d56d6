import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  Configuration,
  ConfigurationResponse,
  CreateDeployment,
  DeploymentName,
  DeploymentsResponse,
  DeploymentsQuery,
  SavedConfigurationResponse,
  Toggle,
} from '../../../contract/deployment'
import { Done, Nothing } from '../../../contract/envelope'
import { CrashCapsuleResponse, InstancesResponse } from '../../../contract/instance'
import type { Deployments } from '../../deployments/deployments'
import { isRestricted, knownTo } from '../../caller'
import { checkedByHandler, forDeployment, forOperators, presentUserOf, userOf, type Access } from '../access'
import { fieldOf, type Activity } from '../activity'
import { done } from '../envelope'
import { matchesETag } from '../etag'
import type { Overview } from '../overview'
import { createAbortOnShutdown } from '../abortSignals'
import { call, nothing } from '../openapi/call'
import type { Router } from '../router'

const ByName = z.strictObject({ name: DeploymentName })
const ByUid = z.strictObject({ name: DeploymentName, uid: z.uuid() })

const toggled = ({ body }: FastifyRequest) =>
  Toggle.safeParse(body).data?.enabled ? 'enabled deployment' : 'disabled deployment'

const recorded = (
  access: Access,
  action: string | ((request: FastifyRequest) => string),
  subject = fieldOf('params', 'name'),
) => ({
  access,
  activity: { kind: 'deployment', action, subject } satisfies Activity,
})

type AbortOnShutdown = ReturnType<typeof createAbortOnShutdown>

/** Adds the calls for deployments: the list, creation, configuration, deletion, instances, toggle and restart. */
export function deploymentRoutes(app: Router, deployments: Deployments, overview: Overview): void {
  const abortOnShutdown = createAbortOnShutdown(app)
  // An overview that is requested after the response to a change contains that change.
  app.addHook('onSend', async ({ method }) => {
    if (method !== 'GET') overview.forget()
  })
  listRoute(app, deployments, overview)
  configurationRoutes(app, deployments, abortOnShutdown)
  instanceRoutes(app, deployments)
  powerRoutes(app, deployments, abortOnShutdown)
}

function listRoute(app: Router, deployments: Deployments, overview: Overview): void {
  app.get(
    '/api/deployments',
    {
      config: { access: checkedByHandler('view') },
      schema: {
        ...call('listDeployments', 'List the deployments'),
        querystring: DeploymentsQuery,
        rawResponses: { 200: DeploymentsResponse, 304: nothing },
      },
    },
    async (request, reply) => {
      const user = userOf(request)
      if (request.query.instances !== 'true')
        return done({ deployments: await deployments.list(isRestricted(user) ? knownTo(user) : undefined) })
      const { body, etag } = await overview.of(user)
      reply.header('etag', etag)
      // 304 for a client that has the same overview (RFC 9110 §13.1.2).
      if (matchesETag(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.type('application/json; charset=utf-8').send(body)
    },
  )
}

function configurationRoutes(app: Router, deployments: Deployments, abortOnShutdown: AbortOnShutdown): void {
  app.post(
    '/api/deployments',
    {
      config: recorded(forOperators('configuration'), 'created deployment', fieldOf('body', 'name')),
      schema: {
        ...call(
          'createDeployment',
          'Create a deployment, which is disabled at first',
          'NAME_TAKEN',
          'CONFLICT',
          'INVALID_DEFINITION',
        ),
        body: CreateDeployment,
        response: { 201: Done },
      },
    },
    async ({ body }, reply) => {
      await deployments.create(body)
      return reply.code(201).send(done({}))
    },
  )

  app.get(
    '/api/deployments/:name',
    {
      config: { access: forDeployment('configuration') },
      schema: {
        ...call('getConfiguration', 'Read the configuration of a deployment', 'NOT_FOUND', 'CONFLICT'),
        params: ByName,
        response: { 200: ConfigurationResponse },
      },
    },
    async (request) => done(await deployments.configuration(userOf(request), request.params.name)),
  )

  app.patch(
    '/api/deployments/:name',
    {
      config: recorded(forDeployment('configuration'), 'changed configuration'),
      schema: {
        ...call(
          'saveConfiguration',
          'Save the configuration of a deployment',
          'NOT_FOUND',
          'CONFLICT',
          'INVALID_DEFINITION',
          'NAME_TAKEN',
        ),
        params: ByName,
        body: Configuration,
        response: { 200: SavedConfigurationResponse },
      },
    },
    async (request) =>
      done(await deployments.configure(() => presentUserOf(request), request.params.name, request.body)),
  )

  app.delete(
    '/api/deployments/:name',
    {
      config: recorded({ ...forDeployment('configuration'), role: 'operator' }, 'deleted deployment'),
      schema: {
        ...call('deleteDeployment', 'Stop and delete a deployment', 'NOT_FOUND', 'CONFLICT'),
        params: ByName,
        response: { 200: Done },
      },
    },
    async ({ params }, reply) => {
      await deployments.remove(params.name, abortOnShutdown(reply))
      return done({})
    },
  )
}

function instanceRoutes(app: Router, deployments: Deployments): void {
  app.get(
    '/api/deployments/:name/instances',
    {
      config: { access: forDeployment('view') },
      schema: {
        ...call('listInstances', 'List the instances of a deployment', 'NOT_FOUND'),
        params: ByName,
        response: { 200: InstancesResponse },
      },
    },
    async (request) => done({ instances: await deployments.instances(request.params.name, knownTo(userOf(request))) }),
  )

  app.get(
    '/api/deployments/:name/instances/:uid/crash',
    {
      config: { access: forDeployment('console') },
      schema: {
        ...call(
          'getCrash',
          'Get the exit, the last lines and the metrics of the last crash of an instance',
          'NOT_FOUND',
        ),
        params: ByUid,
        response: { 200: CrashCapsuleResponse },
      },
    },
    async ({ params }) => done(await deployments.crash(params.name, params.uid)),
  )
}

function powerRoutes(app: Router, deployments: Deployments, abortOnShutdown: AbortOnShutdown): void {
  app.post(
    '/api/deployments/:name/toggle',
    {
      config: recorded(forDeployment('power'), toggled),
      schema: {
        ...call('toggleDeployment', 'Enable or disable a deployment', 'NOT_FOUND', 'CONFLICT', 'INVALID_DEFINITION'),
        params: ByName,
        body: Toggle,
        response: { 200: Done },
      },
    },
    async ({ params, body }) => {
      await deployments.setEnabled(params.name, body.enabled)
      return done({})
    },
  )

  app.post(
    '/api/deployments/:name/restart',
    {
      config: recorded(forDeployment('power'), 'restarted deployment'),
      schema: {
        ...call(
          'restartDeployment',
          'Restart the instances of a deployment, one after the other',
          'NOT_FOUND',
          'CONFLICT',
          'INVALID_DEFINITION',
        ),
        params: ByName,
        body: Nothing,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      await deployments.restart(request.params.name, abortOnShutdown(reply), knownTo(userOf(request)))
      return done({})
    },
  )
}

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  Configuration,
  ConfigurationAnswer,
  CreateDeployment,
  DeploymentName,
  DeploymentsAnswer,
  DeploymentsQuery,
  SavedConfigurationAnswer,
  Toggle,
} from '../../../contract/deployment'
import { Done, Nothing } from '../../../contract/envelope'
import { CrashCapsuleAnswer, InstancesAnswer } from '../../../contract/instance'
import type { Deployments } from '../../deployments/deployments'
import { userOf } from '../access'
import { fieldOf, type Activity } from '../activity'
import { done } from '../envelope'
import { createAbortOnShutdown } from '../abortSignals'
import type { Router } from '../router'

const ByName = z.strictObject({ name: DeploymentName })
const ByUid = z.strictObject({ name: DeploymentName, uid: z.uuid() })

const toggled = ({ body }: FastifyRequest) =>
  Toggle.safeParse(body).data?.enabled ? 'enabled deployment' : 'disabled deployment'

/** Adds the calls for deployments: the list, creation, configuration, toggle, restart, deletion and instances. */
export function deploymentRoutes(app: Router, deployments: Deployments): void {
  const config = { access: 'user' } as const
  const recorded = (action: string | ((request: FastifyRequest) => string), subject = fieldOf('params', 'name')) => ({
    access: 'user' as const,
    activity: { kind: 'deployment', action, subject } satisfies Activity,
  })

  const abortOnShutdown = createAbortOnShutdown(app)

  app.get(
    '/api/deployments',
    { config, schema: { querystring: DeploymentsQuery, response: { 200: DeploymentsAnswer } } },
    async ({ query }) =>
      done({
        deployments: await (query.instances === 'true' ? deployments.listWithInstances() : deployments.list()),
      }),
  )

  app.post(
    '/api/deployments',
    {
      config: recorded('created deployment', fieldOf('body', 'name')),
      schema: { body: CreateDeployment, response: { 201: Done } },
    },
    async ({ body }, reply) => {
      await deployments.create(body)
      return reply.code(201).send(done({}))
    },
  )

  app.get(
    '/api/deployments/:name',
    { config, schema: { params: ByName, response: { 200: ConfigurationAnswer } } },
    async ({ params }) => done(await deployments.configuration(params.name)),
  )

  app.patch(
    '/api/deployments/:name',
    {
      config: recorded('changed configuration'),
      schema: { params: ByName, body: Configuration, response: { 200: SavedConfigurationAnswer } },
    },
    async (request) => done(await deployments.configure(userOf(request), request.params.name, request.body)),
  )

  app.delete(
    '/api/deployments/:name',
    { config: recorded('deleted deployment'), schema: { params: ByName, response: { 200: Done } } },
    async ({ params }, reply) => {
      await deployments.remove(params.name, abortOnShutdown(reply))
      return done({})
    },
  )

  app.get(
    '/api/deployments/:name/instances',
    { config, schema: { params: ByName, response: { 200: InstancesAnswer } } },
    async ({ params }) => done({ instances: await deployments.instances(params.name) }),
  )

  app.get(
    '/api/deployments/:name/instances/:uid/crash',
    { config, schema: { params: ByUid, response: { 200: CrashCapsuleAnswer } } },
    async ({ params }) => done(await deployments.crash(params.name, params.uid)),
  )

  app.post(
    '/api/deployments/:name/toggle',
    { config: recorded(toggled), schema: { params: ByName, body: Toggle, response: { 200: Done } } },
    async ({ params, body }) => {
      await deployments.setEnabled(params.name, body.enabled)
      return done({})
    },
  )

  app.post(
    '/api/deployments/:name/restart',
    { config: recorded('restarted deployment'), schema: { params: ByName, body: Nothing, response: { 200: Done } } },
    async ({ params }, reply) => {
      await deployments.restart(params.name, abortOnShutdown(reply))
      return done({})
    },
  )
}

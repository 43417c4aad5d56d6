import { z } from 'zod'
import { DeploymentName, DeploymentsAnswer } from '../../contract/deployment'
import { InstancesAnswer } from '../../contract/instance'
import type { Deployments } from '../deployments/deployments'
import { done } from './envelope'
import type { Router } from './router'

const ByName = z.strictObject({ name: DeploymentName })

export function deploymentRoutes(app: Router, deployments: Deployments): void {
  const config = { access: 'user' } as const

  app.get('/api/deployments', { config, schema: { response: { 200: DeploymentsAnswer } } }, async () =>
    done({ deployments: await deployments.list() }))

  app.get('/api/deployments/:name/instances', { config, schema: { params: ByName, response: { 200: InstancesAnswer } } }, async ({ params }) =>
    done({ instances: await deployments.instances(params.name) }))
}

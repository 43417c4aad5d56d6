import { DashboardHostResponse, DashboardTokenResponse } from '../../../contract/admin'
import { Nothing } from '../../../contract/envelope'
import type { Dashboard } from '../../kubernetes/dashboard'
import { forAdministrators, userOf } from '../access'
import type { Activity } from '../activity'
import { done } from '../envelope'
import { call } from '../openapi/call'
import type { Router } from '../router'

/**
 * Adds the calls for the host of the Kubernetes dashboard and each administrator's token (product §7, Administration).
 */
export function dashboardRoutes(app: Router, dashboard: Dashboard): void {
  const config = { access: forAdministrators }
  const recorded = (action: string) => ({ ...config, activity: { kind: 'token', action } satisfies Activity })
  const path = '/api/admin/k8sdashboard'

  app.get(
    `${path}/host`,
    {
      config,
      schema: {
        ...call('getDashboardHost', 'Get the address of the Kubernetes dashboard', 'NOT_CONFIGURED'),
        response: { 200: DashboardHostResponse },
      },
    },
    async () => done({ host: dashboard.host() }),
  )

  app.get(
    `${path}/token`,
    {
      config,
      schema: {
        ...call('getDashboardToken', 'Get the own token for the Kubernetes dashboard', 'NOT_CONFIGURED', 'CONFLICT'),
        response: { 200: DashboardTokenResponse },
      },
    },
    async (request) => done({ token: await dashboard.token(userOf(request)) }),
  )

  app.post(
    `${path}/token`,
    {
      config: recorded('created dashboard token'),
      schema: {
        ...call(
          'createDashboardToken',
          'Create the own token for the Kubernetes dashboard',
          'NOT_CONFIGURED',
          'CONFLICT',
        ),
        body: Nothing,
        response: { 201: DashboardTokenResponse },
      },
    },
    async (request, reply) => reply.code(201).send(done({ token: await dashboard.create(userOf(request)) })),
  )

  app.delete(
    `${path}/token`,
    {
      config: recorded('deleted dashboard token'),
      schema: {
        ...call(
          'deleteDashboardToken',
          'Delete the own token for the Kubernetes dashboard',
          'NOT_CONFIGURED',
          'NOT_FOUND',
          'CONFLICT',
        ),
        response: { 200: DashboardTokenResponse },
      },
    },
    async (request) => {
      await dashboard.remove(userOf(request))
      return done({ token: null })
    },
  )
}

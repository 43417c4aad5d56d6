import { MetricAnswer, MetricQuery } from '../../contract/metric'
import type { Metrics } from '../deployments/metrics'
import { done } from './envelope'
import type { Router } from './router'

export function metricRoutes(app: Router, metrics: Metrics): void {
  for (const metric of ['cpu', 'memory'] as const) {
    app.get(
      `/api/metrics/${metric}`,
      { config: { access: 'user' }, schema: { querystring: MetricQuery, response: { 200: MetricAnswer } } },
      async ({ query }) => done({ data: await metrics.of(query.pod, metric) }),
    )
  }
}

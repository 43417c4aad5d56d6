import type { MetricAnswer, MetricPoint } from '../../contract/metric'
import { api } from './api'
import { badAnswer } from './failure'

export type Metric = 'cpu' | 'memory'

const metricsApi = api.injectEndpoints({
  endpoints: (build) => ({
    getMetric: build.query<MetricPoint[], { metric: Metric; pod: string }>({
      async queryFn({ metric, pod }, _api, _options, request) {
        const { data, error } = await request(`metrics/${metric}?pod=${encodeURIComponent(pod)}`)
        const points = (data as Partial<MetricAnswer> | null)?.data?.data
        return Array.isArray(points) ? { data: points } : { error: error ?? badAnswer }
      },
    }),
  }),
})

export const { useGetMetricQuery } = metricsApi

import type { MetricAnswer, MetricPoint } from '../../contract/metric'
import { api } from './api'
import type { DataOf } from './transport/queryFnOf'
import { listIn, queryFnOf } from './transport/queryFnOf'

export type Metric = 'cpu' | 'memory'

const metricsApi = api.injectEndpoints({
  endpoints: (build) => ({
    getMetric: build.query<MetricPoint[], { metric: Metric; pod: string }>({
      queryFn: queryFnOf(
        ({ metric, pod }) => `metrics/${metric}?pod=${encodeURIComponent(pod)}`,
        ({ data }: DataOf<MetricAnswer>) => listIn(data),
      ),
    }),
  }),
})

export const { useGetMetricQuery } = metricsApi

import type { MetricResponse, MetricPoint } from '../../contract/metric'
import { api } from './api'
import type { DataOf } from './transport/dataSchema'
import { dataSchema, listIn } from './transport/dataSchema'

export type Metric = 'cpu' | 'memory'

const metricsApi = api.injectEndpoints({
  endpoints: (build) => ({
    getMetric: build.query<MetricPoint[], { metric: Metric; pod: string }>({
      query: ({ metric, pod }) => `metrics/${metric}?pod=${encodeURIComponent(pod)}`,
      responseSchema: dataSchema(({ data }: DataOf<MetricResponse>) => listIn(data)),
    }),
  }),
})

export const { useGetMetricQuery } = metricsApi

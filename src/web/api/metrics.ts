import type { MetricAnswer, MetricPoint } from '../../contract/metric'
import { api } from './api'
import type { DataOf } from './transport/answerSchema'
import { answerSchema, listIn } from './transport/answerSchema'

export type Metric = 'cpu' | 'memory'

const metricsApi = api.injectEndpoints({
  endpoints: (build) => ({
    getMetric: build.query<MetricPoint[], { metric: Metric; pod: string }>({
      query: ({ metric, pod }) => `metrics/${metric}?pod=${encodeURIComponent(pod)}`,
      responseSchema: answerSchema(({ data }: DataOf<MetricAnswer>) => listIn(data)),
    }),
  }),
})

export const { useGetMetricQuery } = metricsApi

import { z } from 'zod'
import { success } from './envelope'

export const MetricPoint = z.object({
  timestamp: z.number().describe('Milliseconds since the epoch.'),
  value: z.number().nonnegative().describe('mCPU for CPU, KiB for memory.'),
})
export type MetricPoint = z.infer<typeof MetricPoint>

export const MetricQuery = z.strictObject({ pod: z.string().regex(/^[a-z0-9-]{1,63}$/, 'must be the name of a pod') })
export type MetricQuery = z.infer<typeof MetricQuery>

/** Response of `GET /api/metrics/cpu` and `/memory`: oldest first, at most one hour, 15 s apart. */
export const MetricResponse = success(z.object({ data: z.array(MetricPoint) }))
export type MetricResponse = z.infer<typeof MetricResponse>

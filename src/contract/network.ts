import { z } from 'zod'
import { Disk } from './disk'
import { success } from './envelope'

export const ManagerTimestampResponse = success(
  z.object({
    timestamp: z
      .number()
      .int()
      .nonnegative()
      .describe("The manager's last heartbeat in milliseconds since the epoch; 0 before the first."),
    /** Our extra. */
    disks: z.array(Disk).optional().describe('Disks whose level is not `ok`; missing if there are none.'),
  }),
)
export type ManagerTimestampResponse = z.infer<typeof ManagerTimestampResponse>

const Capacity = z.object({
  free: z
    .number()
    .nonnegative()
    .describe('Not requested by any instance. Other programs of the node may use a part of it.'),
  total: z.number().nonnegative().describe('What the node offers to Pods.'),
})

/** A node of a cluster. Our extra. */
export const NodeDetails = z.object({
  name: z.string(),
  ready: z.boolean().describe('Whether instances can be placed on it now.'),
  cpu: Capacity.describe('Cores.'),
  memory: Capacity.describe('Bytes.'),
})
export type NodeDetails = z.infer<typeof NodeDetails>

export const NodesResponse = success(
  z.object({
    nodes: z.array(z.string()).describe('Names of the machines that instances can run on.'),
    /** Our extra. */
    details: z
      .array(NodeDetails)
      .optional()
      .describe('All nodes of a cluster, also those that are not ready; missing on one machine.'),
  }),
)
export type NodesResponse = z.infer<typeof NodesResponse>

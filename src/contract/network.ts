import { z } from 'zod'
import { Disk } from './disk'
import { success } from './envelope'

export const ManagerTimestampAnswer = success(
  z.object({
    /** The manager's last heartbeat in milliseconds since the epoch; 0 before the first. */
    timestamp: z.number().int().nonnegative(),
    /** Disks whose level is not `ok`; missing if there are none. Our extra. */
    disks: z.array(Disk).optional(),
  }),
)
export type ManagerTimestampAnswer = z.infer<typeof ManagerTimestampAnswer>

const Capacity = z.object({
  /** Not requested by any instance. Other programs of the node may use a part of it. */
  free: z.number().nonnegative(),
  /** What the node offers to Pods. */
  total: z.number().nonnegative(),
})

/** A node of a cluster. Our extra. */
export const NodeDetails = z.object({
  name: z.string(),
  /** Whether instances can be placed on it now. */
  ready: z.boolean(),
  /** Cores. */
  cpu: Capacity,
  /** Bytes. */
  memory: Capacity,
})
export type NodeDetails = z.infer<typeof NodeDetails>

export const NodesAnswer = success(
  z.object({
    /** Names of the machines that instances can run on. */
    nodes: z.array(z.string()),
    /** All nodes of a cluster, also those that are not ready; missing on one machine. Our extra. */
    details: z.array(NodeDetails).optional(),
  }),
)
export type NodesAnswer = z.infer<typeof NodesAnswer>

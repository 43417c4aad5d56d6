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

export const NodesAnswer = success(
  z.object({
    /** Names of the machines that instances can run on. */
    nodes: z.array(z.string()),
  }),
)
export type NodesAnswer = z.infer<typeof NodesAnswer>

import { z } from 'zod'

/** A file system that the platform writes to. Our extra. */
export const Disk = z.object({
  /** `data`: the data directory, and the shared area if it is on the same file system; `share`: the shared area. */
  name: z.enum(['data', 'share']),
  /** Bytes that an unprivileged user can still write. */
  free: z.number().nonnegative(),
  /** Bytes. */
  total: z.number().nonnegative(),
  /** `low` from 10 % free, `critical` from 2 %, `full` if nothing useful can be stored any more. */
  level: z.enum(['ok', 'low', 'critical', 'full']),
  /** The number of free inodes, if they run out before the bytes. */
  filesLeft: z.number().nonnegative().optional(),
})
export type Disk = z.infer<typeof Disk>

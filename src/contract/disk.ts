import { z } from 'zod'

/** A file system that the platform writes to. Our extra. */
export const Disk = z.object({
  /** `data`: the data directory, and the shared area where that is on the same one; `share`: the shared area. */
  name: z.enum(['data', 'share']),
  /** Bytes, as an ordinary user may still write them. */
  free: z.number().nonnegative(),
  /** Bytes. */
  total: z.number().nonnegative(),
  /** `low` from 10 % free on, `critical` from 2 % on, `full` where nothing of use can be stored any more. */
  level: z.enum(['ok', 'low', 'critical', 'full']),
  /** Where that is what it is short of: how many more files it can hold (inodes), however many bytes are free. */
  filesLeft: z.number().nonnegative().optional(),
})
export type Disk = z.infer<typeof Disk>

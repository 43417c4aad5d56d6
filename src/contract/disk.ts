import { z } from 'zod'

/** A file system that the platform writes to. Our extra. */
export const Disk = z.object({
  name: z
    .enum(['data', 'share'])
    .describe(
      '`data`: the data directory, and the shared area if it is on the same file system; `share`: the shared area.',
    ),
  free: z.number().nonnegative().describe('Bytes that an unprivileged user can still write.'),
  total: z.number().nonnegative().describe('Bytes.'),
  level: z
    .enum(['ok', 'low', 'critical', 'full'])
    .describe('`low` from 10 % free, `critical` from 2 %, `full` if nothing useful can be stored any more.'),
  filesLeft: z
    .number()
    .nonnegative()
    .optional()
    .describe('The number of free inodes, if they run out before the bytes.'),
})
export type Disk = z.infer<typeof Disk>

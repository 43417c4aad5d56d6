import { z } from 'zod'

export const ServerHandshake = z.object({ id: z.literal('CLIENT_HANDSHAKE'), data: z.object({ hello: z.string() }) })
export const FileSync = z.object({
  id: z.literal('CLIENT_FILE_SYNC'),
  data: z.object({
    event: z.enum(['sync_started', 'sync_completed']),
    /** Why the current sync has not finished yet; it is retried. Our extra. */
    problem: z.string().optional(),
  }),
})

/** Messages to the browser: CLIENT_BOUND. */
export const ClientBound = z.discriminatedUnion('id', [ServerHandshake, FileSync])
export type ClientBound = z.infer<typeof ClientBound>

/** Messages to the server: SERVER_BOUND. */
export const ServerBound = z.object({
  id: z.literal('SERVER_HANDSHAKE_ACK'),
  data: z.object({ helloResponse: z.string() }),
})
export type ServerBound = z.infer<typeof ServerBound>

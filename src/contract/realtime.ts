import { z } from 'zod'

/** The socket.io event that carries every message; its one argument is `{id, data}` (decisions §6). */
export const REALTIME_EVENT = 'message'

export const ServerHandshake = z.object({ id: z.literal('CLIENT_HANDSHAKE'), data: z.object({ hello: z.string() }) })
export const FileSync = z.object({
  id: z.literal('CLIENT_FILE_SYNC'),
  data: z.object({
    event: z.enum(['sync_started', 'sync_completed']),
    /** Why the sync that goes on could not be finished yet; it is tried again (our extra). */
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

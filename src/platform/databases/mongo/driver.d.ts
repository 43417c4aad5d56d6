/** A module of the driver that its types leave out (guardDriver.ts). */
declare module 'mongodb/lib/cmap/connection' {
  import type { Transform } from 'node:stream'
  import type { Document } from 'mongodb'
  export const SizedMessageTransform: { prototype: Transform }
  export const Connection: { prototype: { command: (...command: unknown[]) => Promise<Document> } }
}

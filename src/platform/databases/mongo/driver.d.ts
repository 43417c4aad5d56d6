/** A module of the driver that its types leave out (guardDriver.ts). */
declare module 'mongodb/lib/cmap/connection' {
  import type { Transform } from 'node:stream'
  export const SizedMessageTransform: { prototype: Transform }
}

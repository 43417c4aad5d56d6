import type { DraftDatabase } from '../drafts/draftDatabase'
import type { SendUpload } from '../features/files/uploads/sendUpload'
import type { ConnectConsole } from '../sockets/reconnectingConsole'

/** Browser APIs that the store uses. Tests and replay pass their own. */
export type Services = {
  cookies: {
    get(name: string): string | undefined
    set(
      name: string,
      value: string,
      options: { expires: number | Date; sameSite: 'strict'; secure: boolean; path: string },
    ): unknown
    remove(name: string, options: { path: string }): void
  }
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Milliseconds since the epoch. */
  now: () => number
  /** A number from 0 to 1, excluding 1. The default is `Math.random`. */
  random?: () => number
  // Other pages set the real ones, which the login page does not load.
  drafts?: DraftDatabase
  connectConsole?: ConnectConsole
  sendUpload?: SendUpload
}

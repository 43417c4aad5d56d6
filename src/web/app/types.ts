import type { DraftDatabase } from '../drafts/draftDatabase'
import type { makeStore } from './store'

export type AppStore = ReturnType<typeof makeStore>
export type RootState = ReturnType<AppStore['getState']>
export type AppDispatch = AppStore['dispatch']

/** What the console needs from the browser besides the page itself. Tests and replay hand in their own. */
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
  /** The browser's own database unless another one is given (drafts/draftDatabase.ts). */
  drafts?: DraftDatabase
}

import type { DraftDatabase } from '../drafts/draftDatabase'
import type { makeStore } from './store'

export type AppStore = ReturnType<typeof makeStore>
export type RootState = ReturnType<AppStore['getState']>
export type AppDispatch = AppStore['dispatch']

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
  /** Default: IndexedDB (drafts/draftDatabase.ts). */
  drafts?: DraftDatabase
}

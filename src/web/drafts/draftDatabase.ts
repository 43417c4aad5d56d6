import { createStore, delMany, set, values } from 'idb-keyval'
import type { Draft } from './draft'

/** Where drafts are kept. Nothing in it rejects: without a database everything works but for what the next visit finds. */
export type DraftDatabase = {
  /** Undefined where there is no database to read. */
  read: () => Promise<Draft[] | undefined>
  /** Whether it was written. */
  write: (draft: Draft) => Promise<boolean>
  remove: (ids: string[]) => Promise<unknown>
}

/** Another shape of drafts needs another name: what an older console left would be misread. */
const NAME = 'quarterdeck-drafts-1'

/** The browser's IndexedDB. One call after the other: what was written first is not read or removed before. */
export function openDraftDatabase(): DraftDatabase {
  const drafts = createStore(NAME, 'drafts')
  let last: Promise<unknown> = Promise.resolve()
  let isReported = false

  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
  const report = (error: unknown) => {
    if (isReported) return
    isReported = true
    console.warn(
      `[drafts] this browser keeps no drafts, unsaved texts last as long as this page: ${error instanceof Error ? error.message : String(error)}`,
    )
  }

  return {
    read: () => inTurn(() => values<Draft>(drafts)).catch(() => undefined),
    write: (draft) =>
      inTurn(() => set(draft.id, draft, drafts)).then(
        () => true,
        (error: unknown) => {
          report(error)
          return false
        },
      ),
    remove: (ids) => inTurn(() => delMany(ids, drafts)).catch(() => {}),
  }
}

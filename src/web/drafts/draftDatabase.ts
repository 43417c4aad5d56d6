import { createStore, delMany, set, values } from 'idb-keyval'
import type { Draft } from './draft'

/** Persistence of drafts. Its promises never reject: without a database, drafts only last as long as the page. */
export type DraftDatabase = {
  /** Undefined if the database cannot be read. */
  read: () => Promise<Draft[] | undefined>
  /** Resolves to whether the draft was written. */
  write: (draft: Draft) => Promise<boolean>
  remove: (ids: string[]) => Promise<unknown>
}

/** Another format of drafts needs another name, so that drafts of an older version are not misread. */
const NAME = 'quarterdeck-drafts-1'

/** Opens IndexedDB. Calls run one after the other, so that reads and removals see earlier writes. */
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
      `[drafts] this browser cannot store drafts, unsaved texts are lost with this page: ${error instanceof Error ? error.message : String(error)}`,
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

import type { Logger } from 'pino'
import { SHARED_ROOT } from '../../contract/pageRules'
import type { Caller } from '../caller'
import type { Callers } from '../accounts/callers'
import type { Users } from '../accounts/users'
import type { Reach } from '../share/reach'
import type { FileAccess } from './fileAccess'

/** An upload or a job on archives. */
interface Work {
  /** Whether it may go on for a caller who may use no more than this part of the shared area. */
  isAllowed(reach: Pick<Reach, 'holds' | 'isWhole'>): boolean
  /** Ends it; it then fails. */
  end(): void
}

/** A path of a call, valid or not, as a `Reach` has it. */
export const pathInReach = (path: string) => path.slice(SHARED_ROOT.length).replace(/\/$/, '')

/** Uploads and jobs in progress, which end when their user is deleted or loses the rights for them. */
export interface ActiveWork {
  /** @returns a function that removes it, to be called at its end */
  add(caller: Caller, work: Work): () => void
}

interface ActiveWorkParts {
  callers: Pick<Callers, 'onChange'>
  users: Pick<Users, 'find'>
  fileAccess: FileAccess
  log: Pick<Logger, 'warn'>
}

/** Follows changes of users at this and other replicas. */
export function createActiveWork({ callers, users, fileAccess, log }: ActiveWorkParts): ActiveWork {
  const active = new Set<{ caller: Caller; work: Work }>()

  async function endUnallowed(): Promise<void> {
    const entries = [...active]
    if (entries.length === 0) return
    const present = await users.find(entries.map(({ caller }) => caller.userId))
    for (const { caller, work } of entries) {
      const now = present.get(caller.userId)
      const reach = now && (await fileAccess.of({ ...now, ...(caller.key && { key: caller.key }) })).reach
      if (!now || (reach && !work.isAllowed(reach))) work.end()
    }
  }

  callers.onChange(
    () =>
      void endUnallowed().catch((error: unknown) =>
        log.warn({ err: error }, 'failed to look for work of users without the rights for it'),
      ),
  )

  return {
    add(caller, work) {
      const entry = { caller, work }
      active.add(entry)
      return () => active.delete(entry)
    },
  }
}

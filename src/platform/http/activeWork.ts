import type { Logger } from 'pino'
import { credentialOf, type Caller } from '../caller'
import { hasSameRights, type Callers } from '../accounts/callers'
import type { Users } from '../accounts/users'
import { createSharedRead } from '../concurrency/sharedRead'
import type { FollowedReach } from '../share/reach'
import type { FileAccess } from './fileAccess'

const RETRY_MS = 1000

/** An upload, a download or a job on archives. */
interface Work {
  /**
   * Restricts the paths that the work may use from now on. @returns whether the paths that it has used are still
   * allowed
   */
  limitTo: FollowedReach['limitTo']
  /** Aborts the work, which then fails. */
  end(): void
}

/** Work in progress, which ends when its user or API key is deleted, or its user loses the rights for it. */
export interface ActiveWork {
  /**
   * Adds work, and checks its rights once more: they may have changed since its call was admitted.
   * @returns a function that removes it, to be called at its end
   */
  add(caller: Caller, work: Work): () => void
}

interface ActiveWorkParts {
  callers: Pick<Callers, 'onChange' | 'find'>
  users: Pick<Users, 'find'>
  fileAccess: FileAccess
  log: Pick<Logger, 'warn'>
}

/** Follows changes of users at this and other replicas. */
export function createActiveWork({ callers, users, fileAccess, log }: ActiveWorkParts): ActiveWork {
  const active = new Set<{ caller: Caller; work: Work }>()

  let retry: NodeJS.Timeout | undefined

  async function endUnallowed(): Promise<void> {
    const entries = [...active]
    if (entries.length === 0) return
    const [present, presentKeys] = await Promise.all([
      users.find(entries.filter(({ caller }) => !caller.key).map(({ caller }) => caller.userId)),
      callers.find(entries.filter(({ caller }) => caller.key).map(({ caller }) => credentialOf(caller))),
    ])
    for (const { caller, work } of entries) {
      const now = caller.key ? presentKeys.get(credentialOf(caller)) : present.get(caller.userId)
      // Without a change, the call's own checks are enough.
      if (hasSameRights(caller, now)) continue
      const reach = now && (await fileAccess.of(now)).reach
      if (!now || (reach && !work.limitTo(reach))) work.end()
    }
  }

  // One check at a time, so that the rights that were read last count.
  const check = createSharedRead(() =>
    endUnallowed().catch((error: unknown) => {
      log.warn(
        { err: error },
        'failed to check the rights of users with uploads, downloads or jobs in progress; retrying',
      )
      retry ??= setTimeout(() => {
        retry = undefined
        void check()
      }, RETRY_MS).unref()
    }),
  )
  callers.onChange(() => void check())

  return {
    add(caller, work) {
      const entry = { caller, work }
      active.add(entry)
      void check()
      return () => active.delete(entry)
    },
  }
}

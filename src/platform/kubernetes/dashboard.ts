import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { createKeyedQueue } from '../concurrency/keyedQueue'
import { AppError } from '../errors'
import {
  insertDashboardAccount,
  findDashboardAccount,
  deleteDashboardAccount,
  setDashboardToken,
  listStaleDashboardAccounts,
} from '../state/accounts/dashboardAccounts'
import type { Db } from '../state/db'
import { waitForLeasedLock } from '../state/locks/leasedLock'
import type { Secrets } from '../state/secrets'
import type { Caller } from '../caller'
import type { Cluster } from './cluster'

const TOKEN_HOURS = 24
/** How long to wait for a change of the same account by another replica. Each change waits for the cluster. */
const LOCK_MS = 10_000

/** Tokens for the Kubernetes dashboard, one per administrator (decisions §9). Without a cluster every call is 503. */
export interface Dashboard {
  /** The dashboard's address. @throws AppError UNAVAILABLE if it is not configured */
  host(): string
  /** The issued token, or null if there is none or it has expired. */
  token(user: Caller): Promise<string | null>
  /**
   * Issues a token for 24 hours and revokes an earlier one.
   * @throws AppError UNAVAILABLE, CONFLICT, NOT_ALLOWED if the user was demoted meanwhile
   */
  create(user: Caller): Promise<string>
  /** Revokes the token. @throws AppError NOT_FOUND, or UNAVAILABLE, in which case it remains valid */
  remove(user: Caller): Promise<void>
  /** Removes expired accounts, and those of deleted users and former administrators. Idempotent; logs failures. */
  sweep(): Promise<void>
}

export interface DashboardParts {
  db: Db
  /** For locks, each of which needs a dedicated connection. */
  pool: Pool
  secrets: Secrets
  /** Undefined if none is configured. */
  cluster: Cluster | undefined
  host: string | undefined
  log: Pick<Logger, 'warn'>
  now: () => number
}

/** Serializes the changes of an account, in this process and among the replicas of the platform. */
export function createDashboard({ db, pool, secrets, cluster, host, log, now }: DashboardParts): Dashboard {
  const queue = createKeyedQueue()

  /** Runs work while no other change of the account runs, at any replica. @throws AppError CONFLICT after 10 s */
  function withLock<Result>(account: string, work: () => Promise<Result>): Promise<Result> {
    return queue(account, async () => {
      const lock = await waitForLeasedLock(pool, `dashboard account ${account}`, LOCK_MS)
      if (!lock) throw new AppError('CONFLICT', 'Your account is being changed by another request. Please try again.')
      try {
        return await work()
      } finally {
        await lock.release()
      }
    })
  }

  /** @throws AppError UNAVAILABLE if no cluster is configured */
  function requireCluster(): Cluster {
    if (!cluster)
      throw new AppError(
        'UNAVAILABLE',
        'No Kubernetes cluster is configured. Set KUBECONFIG to the file of a cluster, or run Quarterdeck in the cluster, and start it again.',
      )
    return cluster
  }

  async function removeAccount(account: string): Promise<void> {
    await requireCluster().removeAccount(account)
    await deleteDashboardAccount(db, account)
  }

  return {
    host() {
      requireCluster()
      if (host === undefined)
        throw new AppError(
          'UNAVAILABLE',
          'The address of the Kubernetes dashboard is not known. Set QUARTERDECK_DASHBOARD_HOST and start Quarterdeck again.',
        )
      return host
    },

    async token({ userId }) {
      requireCluster()
      const account = await findDashboardAccount(db, userId)
      if (!account?.token || !account.expiresAt || account.expiresAt.getTime() <= now()) return null
      return secrets.unseal(account.token, 'dashboard token', account.serviceAccount)
    },

    async create({ userId, username }) {
      const target = requireCluster()
      const account = serviceAccountOf(username)
      return withLock(account, async () => {
        await insertDashboardAccount(db, account, userId)
        try {
          // The user may have been demoted while this waited for its turn; the sweep of that has found no account.
          if ((await listStaleDashboardAccounts(db)).includes(account))
            throw new AppError('NOT_ALLOWED', 'You are no longer an administrator.')
          await target.removeAccount(account)
          await target.createAccount(account)
          const { token, expiresAt } = await target.issueToken(account, TOKEN_HOURS * 3600)
          const isKept = await setDashboardToken(
            db,
            account,
            secrets.seal(token, 'dashboard token', account),
            expiresAt,
          )
          if (!isKept) throw new AppError('CONFLICT', 'Your account was changed in the meantime. Please try again.')
          return token
        } catch (error) {
          // The next sweep retries a removal that fails.
          await removeAccount(account).catch(() => undefined)
          throw error
        }
      })
    },

    async remove({ userId }) {
      requireCluster()
      const account = await findDashboardAccount(db, userId)
      if (!account) throw new AppError('NOT_FOUND', 'There is no dashboard token.')
      await withLock(account.serviceAccount, () => removeAccount(account.serviceAccount))
    },

    async sweep() {
      if (!cluster) return
      const failed = (error: unknown, account?: string) =>
        log.warn({ err: error, account }, 'failed to remove service accounts of the Kubernetes dashboard; retrying')
      const stale = await listStaleDashboardAccounts(db).catch((error: unknown) => {
        failed(error)
        return []
      })
      for (const account of stale) {
        await withLock(account, async () => {
          // Its user may have requested a new token since.
          if ((await listStaleDashboardAccounts(db)).includes(account)) await removeAccount(account)
        }).catch((error: unknown) => failed(error, account))
      }
    },
  }
}

/**
 * The name of a user's service account: `quarterdeck-dashboard-<username>` if that is a DNS subdomain (RFC 1123), else
 * with a hash. Usernames are unique regardless of case. A username that ends like a hash gets one too, so that no two
 * users share an account.
 */
export function serviceAccountOf(username: string): string {
  const name = username.toLowerCase()
  const isPlain =
    /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/.test(name) &&
    !/(?:^|-)[0-9a-f]{10}$/.test(name)
  if (isPlain) return `quarterdeck-dashboard-${name}`
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 10)
  return `quarterdeck-dashboard-${[...name.split(/[^a-z0-9]+/).filter(Boolean), hash].join('-')}`
}

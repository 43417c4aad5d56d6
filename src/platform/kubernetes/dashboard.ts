import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import { AppError } from '../errors'
import {
  beginDashboardAccount,
  findDashboardAccount,
  forgetDashboardAccount,
  keepDashboardToken,
  listUselessDashboardAccounts,
} from '../state/dashboardAccounts'
import type { Db } from '../state/db'
import type { Secrets } from '../state/secrets'
import type { SessionUser } from '../state/sessions'
import type { Cluster } from './cluster'

const TOKEN_HOURS = 24

/** Tokens for the Kubernetes dashboard, one for each administrator (decisions §9). Without a cluster everything is 503. */
export interface Dashboard {
  /** The dashboard's address. @throws AppError UNAVAILABLE when it is not set */
  host(): string
  /** The one that was issued, until it expires. */
  token(user: SessionUser): Promise<string | null>
  /** Issues one for 24 hours; one that was issued before ends. @throws AppError UNAVAILABLE, CONFLICT */
  create(user: SessionUser): Promise<string>
  /** Ends it. @throws AppError NOT_FOUND, UNAVAILABLE; then it still is */
  remove(user: SessionUser): Promise<void>
  /** Removes from the cluster what nobody has a use for: of users who are gone or no administrators any more, and expired. Repeatable; failures are logged. */
  sweep(): Promise<void>
}

export interface DashboardParts {
  db: Db
  secrets: Secrets
  /** Undefined where none is configured. */
  cluster: Cluster | undefined
  host: string | undefined
  log: Pick<Logger, 'warn'>
  now: () => number
}

/** Changes of one account follow one another here; of two platforms that change it at once, one may have to be asked again. */
export function createDashboard({ db, secrets, cluster, host, log, now }: DashboardParts): Dashboard {
  const changes = new Map<string, Promise<unknown>>()

  /** One change of an account after another. */
  function inTurn<Result>(account: string, work: () => Promise<Result>): Promise<Result> {
    const mine = (changes.get(account) ?? Promise.resolve()).then(work, work)
    changes.set(account, mine)
    const forget = () => {
      if (changes.get(account) === mine) changes.delete(account)
    }
    mine.then(forget, forget)
    return mine
  }

  function configured(): Cluster {
    if (!cluster)
      throw new AppError(
        'UNAVAILABLE',
        'No Kubernetes cluster is configured. Set KUBECONFIG to the file of a cluster, or run Quarterdeck in the cluster, and start it again.',
      )
    return cluster
  }

  async function end(account: string): Promise<void> {
    await configured().removeAccount(account)
    await forgetDashboardAccount(db, account)
  }

  return {
    host() {
      configured()
      if (host === undefined)
        throw new AppError(
          'UNAVAILABLE',
          'The address of the Kubernetes dashboard is not known. Set QUARTERDECK_DASHBOARD_HOST and start Quarterdeck again.',
        )
      return host
    },

    async token({ userId }) {
      configured()
      const account = await findDashboardAccount(db, userId)
      if (!account?.token || !account.expiresAt || account.expiresAt.getTime() <= now()) return null
      return secrets.unseal(account.token, 'dashboard token', account.serviceAccount)
    },

    async create({ userId, username }) {
      const target = configured()
      const account = serviceAccountOf(username)
      return inTurn(account, async () => {
        await beginDashboardAccount(db, account, userId)
        try {
          await target.removeAccount(account)
          await target.createAccount(account)
          const { token, expiresAt } = await target.issueToken(account, TOKEN_HOURS * 3600)
          const isKept = await keepDashboardToken(
            db,
            account,
            secrets.seal(token, 'dashboard token', account),
            expiresAt,
          )
          if (!isKept) throw new AppError('CONFLICT', 'Your account was changed meanwhile. Please try again.')
          return token
        } catch (error) {
          // What is not removed now is found by the next sweep.
          await end(account).catch(() => undefined)
          throw error
        }
      })
    },

    async remove({ userId }) {
      configured()
      const account = await findDashboardAccount(db, userId)
      if (!account) throw new AppError('NOT_FOUND', 'There is no dashboard token.')
      await inTurn(account.serviceAccount, () => end(account.serviceAccount))
    },

    async sweep() {
      if (!cluster) return
      try {
        for (const account of await listUselessDashboardAccounts(db)) {
          await inTurn(account, async () => {
            // Its user may have asked for a new one meanwhile.
            if ((await listUselessDashboardAccounts(db)).includes(account)) await end(account)
          })
        }
      } catch (error) {
        log.warn({ err: error }, 'service accounts of the Kubernetes dashboard could not be removed; it is tried again')
      }
    },
  }
}

/**
 * The name of a user's service account: `quarterdeck-dashboard-<username>` as far as Kubernetes takes it (a DNS subdomain,
 * RFC 1123). Usernames are unique without regard to case. Others get a hash of the name, and so does a name that looks
 * like it has one: no two users ever share an account.
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

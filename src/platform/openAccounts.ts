import type { Logger } from 'pino'
import { createActivityLog } from './accounts/activityLog'
import { createApiKeys } from './accounts/apiKeys'
import { createCallers } from './accounts/callers'
import { createCodeChecks } from './accounts/codeChecks'
import { createDownloadTickets } from './accounts/downloadTickets'
import { createInvites } from './accounts/invites'
import { openOpenId } from './accounts/openid/openId'
import { createOwnPassword } from './accounts/ownPassword'
import { createPasskeys } from './accounts/passkeys'
import { RELY_MS } from './accounts/presentCallers'
import { createRegistration } from './accounts/registration'
import { createSessions } from './accounts/sessions'
import { createSignIn } from './accounts/signIn'
import { createSignInMethods } from './accounts/signInMethods'
import { createUsers } from './accounts/users'
import type { Settings } from './config'
import { createCluster, type Cluster } from './kubernetes/cluster'
import { createDashboard } from './kubernetes/dashboard'
import { dropOldActivity } from './state/accounts/activity'
import type { StateDatabase } from './state/db'
import type { Notifications } from './state/notifications'
import { dropEndedReplicas } from './state/replicas'
import type { Secrets } from './state/secrets'
import { dropExpired } from './state/accounts/sessions'
import { deleteOldAttempts } from './state/accounts/rateLimits'
import type { Surroundings } from './surroundings'

const CLEAN_UP_MS = 10 * 60_000
/** Timeout of an operation on the Kubernetes cluster. */
const CLUSTER_MS = 8000

/** Opens accounts and all that belongs to them. Deletes expired records from then on. */
export function openAccounts(
  settings: Settings,
  { log, closers }: Surroundings,
  { now = Date.now, cluster = clusterOf(settings, log) }: { now?: () => number; cluster?: Cluster | undefined },
  { db, pool }: StateDatabase,
  secrets: Secrets,
  notifications: Notifications,
  isReplica: boolean,
) {
  const sessions = createSessions(db, secrets, now, notifications, isReplica ? RELY_MS : 0)
  const apiKeys = createApiKeys(db, now, sessions.announceChange)
  const callers = createCallers(sessions, apiKeys)
  closers.push(async () => callers.close())
  const activityLog = createActivityLog(db, log, Date.now)
  closers.push(() => activityLog.close())
  const codes = createCodeChecks({ db, secrets, activityLog, now })
  const passkeys = createPasskeys(db, activityLog, now)
  const signInMethods = createSignInMethods({ db, secrets, codes, passkeys, now })
  const dashboard = createDashboard({ db, pool, secrets, cluster, host: settings.dashboardHost, log, now })
  const cleanUp = setInterval(() => {
    void dashboard.sweep()
    Promise.all([dropExpired(db), deleteOldAttempts(db), dropOldActivity(db), dropEndedReplicas(db)]).catch(
      (error: unknown) => log.warn({ err: error }, 'failed to delete expired records'),
    )
  }, CLEAN_UP_MS)
  closers.push(async () => clearInterval(cleanUp))
  const onRightsLost = () => void dashboard.sweep()
  return {
    sessions,
    apiKeys,
    callers,
    activityLog,
    dashboard,
    registration: createRegistration(db, secrets, sessions, now),
    signIn: createSignIn(db, { codes, passkeys }, sessions, now),
    signInMethods,
    ownPassword: createOwnPassword({
      db,
      codes,
      takeProof: (by, proof) => signInMethods.takeProof(by, proof),
      onSessionsEnded: sessions.announceChange,
    }),
    openId: openOpenId(settings.openId, { db, sessions, codes, activityLog, log, now, onRightsLost }),
    users: createUsers(db, { onRightsLost, onSessionsChanged: sessions.announceChange }),
    invites: createInvites(db, now),
    tickets: createDownloadTickets(db, callers, now),
  }
}

function clusterOf({ cluster, dashboardRole }: Settings, log: Logger): Cluster | undefined {
  return cluster && createCluster({ source: cluster, role: dashboardRole, timeoutMs: CLUSTER_MS, log })
}

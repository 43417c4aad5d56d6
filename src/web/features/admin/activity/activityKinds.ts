import type { ActivityKind } from '../../../../contract/admin'

/** The order is that of the filter. */
export const activityKinds: Record<ActivityKind, string> = {
  session: 'Sign-ins',
  deployment: 'Deployments',
  power: 'Power',
  command: 'Commands',
  file: 'Files',
  database: 'Databases',
  user: 'Users',
  invite: 'Invite codes',
  token: 'Dashboard token',
  key: 'API keys',
}

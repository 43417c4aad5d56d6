import type { ActivityKind } from '../../../../contract/admin'

/** In the order in which the filter shows them. */
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

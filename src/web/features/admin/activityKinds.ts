import type { ActivityKind } from '../../../contract/admin'

/** In the order of the filter. */
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
}

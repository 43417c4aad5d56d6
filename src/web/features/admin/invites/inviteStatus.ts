import type { InviteCode } from '../../../../contract/admin'

export type InviteStatus = 'Revoked' | 'Expired' | 'Used' | 'Active'

/** The order of precedence is that of product §4. */
export function inviteStatus({ revoked, is_expired, used_by }: InviteCode): InviteStatus {
  if (revoked) return 'Revoked'
  if (is_expired) return 'Expired'
  if (used_by) return 'Used'
  return 'Active'
}

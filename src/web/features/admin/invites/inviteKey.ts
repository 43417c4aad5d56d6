import type { InviteCode } from '../../../../contract/admin'
import { inviteStatus } from './inviteStatus'

export type KeyedInvite = InviteCode & { key: string }

/**
 * Sorts usable invites before the others, and both newest first. Gives each invite a key that is not a secret: its
 * creation time and its index among invites of that time. The code itself stays out of slices and actions, because
 * anyone who has it can register.
 */
export function keyInvites(codes: InviteCode[]): KeyedInvite[] {
  const seen = new Map<string, number>()
  const keyed = codes.map((invite) => {
    const nth = seen.get(invite.created_at) ?? 0
    seen.set(invite.created_at, nth + 1)
    return { ...invite, key: `${invite.created_at} ${nth}` }
  })
  return keyed.sort((a, b) => Number(isActive(b)) - Number(isActive(a)) || b.created_at.localeCompare(a.created_at))
}

const isActive = (invite: InviteCode) => inviteStatus(invite) === 'Active'

import type { InviteCode } from '../../../contract/admin'

export type KeyedInvite = InviteCode & { key: string }

/**
 * Newest first, each with a name that is no secret: when it was made, and which of those made just then it is.
 * Who has the code can register, so it stays out of slices and actions.
 */
export function keyInvites(codes: InviteCode[]): KeyedInvite[] {
  const seen = new Map<string, number>()
  const keyed = codes.map((invite) => {
    const nth = seen.get(invite.created_at) ?? 0
    seen.set(invite.created_at, nth + 1)
    return { ...invite, key: `${invite.created_at} ${nth}` }
  })
  return keyed.sort((a, b) => b.created_at.localeCompare(a.created_at))
}

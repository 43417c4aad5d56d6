import type { Grant, Right, Role, UserAccess } from '../../../../contract/access'
import { RIGHTS } from '../../../../contract/pageRules'

/** The role of a user, also on servers that send none (decisions §16). */
export const roleOf = ({ is_admin, role }: { is_admin: boolean; role?: Role | undefined }): Role =>
  role ?? (is_admin ? 'administrator' : 'operator')

export const roles: Record<Role, { name: string; meaning: string }> = {
  administrator: { name: 'Administrator', meaning: 'May do everything, and manages users and invite codes.' },
  operator: { name: 'Operator', meaning: 'May do everything with all deployments, files and databases.' },
  limited: { name: 'Limited', meaning: 'Sees only the chosen deployments, and has the chosen rights on each.' },
}

export const rights: Record<Right, { name: string; meaning: string }> = {
  view: { name: 'View', meaning: 'sees the deployment, its instances and their load' },
  console: { name: 'Console', meaning: 'reads the console and sends commands' },
  power: { name: 'Power', meaning: 'starts, stops and restarts' },
  files: { name: 'Files', meaning: 'reads and changes the files of its data directory' },
  configuration: { name: 'Configuration', meaning: 'reads and changes its configuration' },
  schedules: { name: 'Schedules', meaning: 'plans commands and restarts' },
  backups: { name: 'Backups', meaning: 'creates and restores backups' },
}

export const grantedOf = (grants: readonly Grant[], deployment: string): readonly Right[] =>
  grants.find((grant) => grant.deployment === deployment)?.rights ?? []

/** Replaces the rights on a deployment. Each right includes `view`; without any right the grant is removed. */
function withRights(grants: readonly Grant[], deployment: string, wanted: readonly Right[]): Grant[] {
  const rights = RIGHTS.filter((right) => wanted.includes(right) || (right === 'view' && wanted.length > 0))
  const others = grants.filter((grant) => grant.deployment !== deployment)
  return rights.length > 0 ? [...others, { deployment, rights }] : others
}

/** Gives or takes a right. Taking `view` removes the whole grant. */
export function withRight(grants: readonly Grant[], deployment: string, right: Right, isGiven: boolean): Grant[] {
  const granted = grantedOf(grants, deployment)
  if (isGiven) return withRights(grants, deployment, [...granted, right])
  return withRights(grants, deployment, right === 'view' ? [] : granted.filter((other) => other !== right))
}

export const withAllRights = (grants: readonly Grant[], deployment: string, isGiven: boolean): Grant[] =>
  withRights(grants, deployment, isGiven ? RIGHTS : [])

/** The access to send: only limited users have grants. */
export const effectiveAccess = ({ role, grants }: UserAccess): UserAccess => ({
  role,
  grants: role === 'limited' ? grants : [],
})

/** Whether both allow the same, whatever the order of grants and rights. */
export const allowsSame = (one: UserAccess, other: UserAccess): boolean => plain(one) === plain(other)

const plain = (access: UserAccess) =>
  JSON.stringify([
    access.role,
    effectiveAccess(access)
      .grants.map(({ deployment, rights }) => `${deployment} ${[...rights].sort().join(' ')}`)
      .sort(),
  ])

import type { UserAccess } from '../../../../contract/access'
import { GrantsTable } from './GrantsTable'
import { RoleChoice } from './RoleChoice'

/** A role and, for the limited one, rights on deployments. Grants stay while another role is tried. */
export function AccessFields({ access, onChange }: { access: UserAccess; onChange: (access: UserAccess) => void }) {
  const { role, grants } = access
  return (
    <>
      <RoleChoice chosen={role} onChoose={(chosen) => onChange({ role: chosen, grants })} />
      {role === 'limited' && (
        <GrantsTable grants={grants} onChange={(changed) => onChange({ role, grants: changed })} />
      )}
    </>
  )
}

import type { UserAccess } from '../../../../contract/access'
import { GrantsTable } from './GrantsTable'
import { RoleChoice } from './RoleChoice'

/** A role and, for the limited one, rights on deployments. Grants are kept while another role is selected. */
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

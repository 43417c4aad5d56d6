import { AdminTabs } from '../features/admin/AdminTabs'
import { AdministratorsOnly } from './AdministratorsOnly'
import { adminPart } from './adminPart'
import { withPart } from './withPart'

const Administration = withPart(adminPart, AdminTabs)

export function AdminPage() {
  return (
    <AdministratorsOnly>
      <Administration />
    </AdministratorsOnly>
  )
}

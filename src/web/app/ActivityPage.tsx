import { ActivityPage as ActivityLogPage } from '../features/admin/ActivityPage'
import { AdministratorsOnly } from './AdministratorsOnly'
import { adminPart } from './adminPart'
import { withPart } from './withPart'

const Activity = withPart(adminPart, ActivityLogPage)

export function ActivityPage() {
  return (
    <AdministratorsOnly>
      <Activity />
    </AdministratorsOnly>
  )
}

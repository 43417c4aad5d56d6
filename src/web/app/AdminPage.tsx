import { useSelector } from 'react-redux'
import { AdminTabs } from '../features/admin/AdminTabs'
import { selectIsAdmin } from '../features/auth/sessionSlice'
import { Notice } from '../ui/Notice'
import { adminPart } from './adminPart'
import { HomeLink } from './HomeLink'
import { withPart } from './withPart'

const Administration = withPart(adminPart, AdminTabs)

export function AdminPage() {
  if (useSelector(selectIsAdmin)) return <Administration />
  return (
    <Notice title="Administrators only" icon="lock" actions={<HomeLink />}>
      <title>Administrators only · Quarterdeck</title>
      <p>This page is for administrators. Ask one of them if you need something changed here.</p>
    </Notice>
  )
}

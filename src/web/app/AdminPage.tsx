import { useSelector } from 'react-redux'
import { selectIsAdmin } from '../features/auth/sessionSlice'
import { Notice } from '../ui/Notice'
import { HomeLink } from './HomeLink'
import { LaterPage } from './LaterPage'

export function AdminPage() {
  if (useSelector(selectIsAdmin)) return <LaterPage />
  return (
    <Notice title="Administrators only" icon="lock" actions={<HomeLink />}>
      <title>Administrators only · Quarterdeck</title>
      <p>This page is for administrators. Ask one of them if you need something changed here.</p>
    </Notice>
  )
}

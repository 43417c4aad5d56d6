import type { ReactNode } from 'react'
import { useSelector } from 'react-redux'
import { selectIsAdmin } from '../features/auth/sessionSlice'
import { Notice } from '../ui/Notice'
import { HomeLink } from './HomeLink'

/** Shows the page to administrators, and to others why they do not see it. */
export function AdministratorsOnly({ children }: { children: ReactNode }) {
  if (useSelector(selectIsAdmin)) return children
  return (
    <Notice title="Administrators only" icon="lock" actions={<HomeLink />}>
      <title>Administrators only · Quarterdeck</title>
      <p>This page is for administrators. Ask one of them if you need something changed here.</p>
    </Notice>
  )
}

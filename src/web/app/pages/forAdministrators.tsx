import type { ComponentType } from 'react'
import { useSelector } from 'react-redux'
import { selectIsAdmin } from '../../features/auth/sessionSlice'
import { Notice } from '../../ui/Notice'
import { HomeLink } from '../layout/HomeLink'

/** Wraps a page for administrators. Other users see why they cannot open it. */
export function forAdministrators(Page: ComponentType): ComponentType {
  return function PageForAdministrators() {
    if (useSelector(selectIsAdmin)) return <Page />
    return (
      <Notice title="Administrators only" icon="lock" actions={<HomeLink />}>
        <title>Administrators only · Quarterdeck</title>
        <p>This page is for administrators. Ask one of them if you need something changed here.</p>
      </Notice>
    )
  }
}

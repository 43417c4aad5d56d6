import type { ComponentType } from 'react'
import { useSelector } from 'react-redux'
import { selectIsAdmin } from '../features/auth/sessionSlice'
import { Notice } from '../ui/Notice'
import { HomeLink } from './HomeLink'

/** A page that administrators see; others are told why they do not. */
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

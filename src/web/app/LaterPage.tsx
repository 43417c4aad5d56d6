import { Notice } from '../ui/Notice'
import { HomeLink } from './HomeLink'

export function LaterPage() {
  return (
    <Notice title="Not part of this build yet" icon="compass" actions={<HomeLink />}>
      <title>Not available yet · Quarterdeck</title>
      <p>This page arrives with a later version of Quarterdeck.</p>
    </Notice>
  )
}

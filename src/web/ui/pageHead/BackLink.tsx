import { Link } from 'react-router-dom'
import { ActionIcon } from '../ActionIcon'

type BackLinkProps = {
  to: string
  /** Its accessible name and tooltip. */
  children: string
}

/** Leads from a page to the page above it. It is the first element of the page's head. */
export function BackLink({ to, children }: BackLinkProps) {
  return (
    <Link to={to} className="btn btn-outline-secondary back-link" title={children}>
      <ActionIcon name="back" />
      <span className="visually-hidden">{children}</span>
    </Link>
  )
}

import type { ReactNode } from 'react'
import type { IconName } from './Icon'
import { Icon } from './Icon'

type NoticeProps = { title: string; icon: IconName; actions?: ReactNode; alert?: boolean; children: ReactNode }

/** A panel that replaces a whole page, with links to other pages. */
export function Notice({ title, icon, actions, alert = false, children }: NoticeProps) {
  return (
    <section className="notice panel" role={alert ? 'alert' : undefined}>
      <span className="notice-icon">
        <Icon name={icon} size={28} />
      </span>
      <h1>{title}</h1>
      {children}
      {actions && <div className="notice-actions">{actions}</div>}
    </section>
  )
}

import type { ReactNode } from 'react'

/** Takes the place of an empty list: says why it is empty and, as `action`, what to do about it. */
export function EmptyState({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty-state panel">
      <p>{children}</p>
      {action}
    </div>
  )
}

import type { ReactNode } from 'react'

/** Takes the place of an empty list and says why it is empty. */
export function EmptyList({ children }: { children: ReactNode }) {
  return <div className="admin-empty">{children}</div>
}

import type { ReactNode } from 'react'

/** Stands where a list would, and says why there is none. */
export function Empty({ children }: { children: ReactNode }) {
  return <div className="admin-empty">{children}</div>
}

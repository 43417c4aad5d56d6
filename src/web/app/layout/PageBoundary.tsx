import type { ReactNode } from 'react'
import { useLocation } from 'react-router-dom'
import { ErrorBoundary } from '../../ui/ErrorBoundary'
import { ErrorPage } from './ErrorPage'

/** If a page throws, or its chunk cannot be loaded, the layout stays; navigation resets the boundary. */
export function PageBoundary({ children }: { children: ReactNode }) {
  const { key } = useLocation()
  return (
    <ErrorBoundary resetKey={key} fallback={() => <ErrorPage />}>
      {children}
    </ErrorBoundary>
  )
}

import type { ReactNode } from 'react'
import { useLocation } from 'react-router-dom'
import { ErrorBoundary } from '../ui/ErrorBoundary'
import { ErrorPage } from './ErrorPage'

/** A page that breaks, or whose chunk cannot be had, leaves everything around it whole; the next page starts afresh. */
export function PageBoundary({ children }: { children: ReactNode }) {
  const { key } = useLocation()
  return (
    <ErrorBoundary resetKey={key} fallback={() => <ErrorPage />}>
      {children}
    </ErrorBoundary>
  )
}

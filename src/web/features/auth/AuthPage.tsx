import type { ComponentProps } from 'react'
import { Logo } from '../../ui/Logo'

/** The frame of the pages before the session: the brand beside, or above, one panel, which takes what else is given. */
export function AuthPage({ title, className = '', children, ...panel }: ComponentProps<'div'> & { title: string }) {
  return (
    <div className="auth">
      <title>{`${title} · Quarterdeck`}</title>
      <header className="auth-brand">
        <p className="brand">
          <Logo size={36} />
          Quarterdeck
        </p>
        <p className="auth-tagline">The operator console of your server network.</p>
      </header>
      <main className="auth-main">
        <div className={`auth-panel panel ${className}`.trim()} {...panel}>
          <h1>{title}</h1>
          {children}
        </div>
      </main>
    </div>
  )
}

import type { ComponentProps } from 'react'
import { Logo } from '../../ui/Logo'

/** The layout of the pages before sign-in: the brand and one panel. Other props are passed to the panel. */
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
        <div className={`auth-panel panel ${className}`} {...panel}>
          <h1>{title}</h1>
          {children}
        </div>
      </main>
    </div>
  )
}

import type { ReactNode } from 'react'
import { Component } from 'react'

type Props = {
  fallback: (error: Error) => ReactNode
  /** A new value clears the error. */
  resetKey: string
  children: ReactNode
}
type State = { error: Error | null; resetKey: string }

/** Limits an error while rendering to this part of the page. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, resetKey: this.props.resetKey }

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  static getDerivedStateFromProps({ resetKey }: Props, state: State): State | null {
    return resetKey === state.resetKey ? null : { error: null, resetKey }
  }

  override render() {
    return this.state.error ? this.props.fallback(this.state.error) : this.props.children
  }
}

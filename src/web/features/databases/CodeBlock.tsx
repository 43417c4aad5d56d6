import type { ReactNode } from 'react'
import { CopyButton } from '../../ui/CopyButton'
import type { Code } from './code'
import { maskedTextOf, textOf } from './code'

type CodeBlockProps = {
  source: Code
  label: string
  isRevealed: boolean
  /** Without it, long lines scroll inside the block. */
  wrap?: boolean
  /** Beside the copy button, before and after the room between. */
  title: ReactNode
  children?: ReactNode
}

export function CodeBlock({ source, label, isRevealed, wrap = false, title, children }: CodeBlockProps) {
  return (
    <div className="code-block">
      <div className="code-head">
        {title}
        <span className="code-buttons">
          {children}
          <CopyButton text={textOf(source)} label={`Copy ${label}`} />
        </span>
      </div>
      {/* What scrolls has to be a stop of the Tab key. */}
      <pre {...(wrap ? { className: 'wrapped' } : { tabIndex: 0, role: 'group', 'aria-label': label })}>
        <code>{isRevealed ? textOf(source) : maskedTextOf(source)}</code>
      </pre>
    </div>
  )
}

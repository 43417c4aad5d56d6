import type { ReactNode } from 'react'
import { CopyButton } from '../../../ui/copy/CopyButton'
import type { Code } from './code'
import { maskedTextOf, textOf } from './code'
import styles from './databasePanel.module.scss'

type CodeBlockProps = {
  source: Code
  label: string
  isRevealed: boolean
  /** If false, long lines scroll inside the block. */
  wrap?: boolean
  /** The title and the children stand left and right in the head of the block, before the copy button. */
  title: ReactNode
  children?: ReactNode
}

export function CodeBlock({ source, label, isRevealed, wrap = false, title, children }: CodeBlockProps) {
  return (
    <div className={styles.codeBlock}>
      <div className={styles.codeHead}>
        {title}
        <span className={styles.codeButtons}>
          {children}
          <CopyButton text={textOf(source)} label={`Copy ${label}`} />
        </span>
      </div>
      {/* A scrollable element must be focusable to be scrolled with the keyboard. */}
      <pre {...(wrap ? { className: styles.wrapped } : { tabIndex: 0, role: 'group', 'aria-label': label })}>
        <code>{isRevealed ? textOf(source) : maskedTextOf(source)}</code>
      </pre>
    </div>
  )
}

import type { MouseEvent, ReactNode } from 'react'
import Button from 'react-bootstrap/Button'
import { CopyButton } from '../ui/CopyButton'
import { TimeAgo } from '../ui/TimeAgo'
import type { Offer } from './draft'

type DraftOfferProps = {
  offer: Offer
  children: ReactNode
  /** What to know before it is restored. */
  warning?: string | false
  /** Without it the draft has nowhere to go, and can be copied. */
  onRestore?: (() => unknown) | undefined
  copy?: string | undefined
  onDiscard: () => unknown
}

/** Stands above an editor or a form, and offers what was left of it. */
export function DraftOffer({ offer, children, warning, onRestore, copy, onDiscard }: DraftOfferProps) {
  const then =
    (act: () => unknown) =>
    ({ currentTarget }: MouseEvent) => {
      // The button goes with the offer; what was edited is where to go on.
      currentTarget.closest('.draft-offer')?.parentElement?.querySelector<HTMLElement>('input, textarea')?.focus()
      act()
    }
  return (
    <div className="draft-offer" role="status">
      <p>
        {children}{' '}
        <span className="draft-time">
          (<TimeAgo time={offer.keptAt} />)
        </span>
        {warning && `. ${warning}`}
      </p>
      <div className="draft-actions">
        {copy !== undefined && <CopyButton text={copy} label="Copy unsaved text" />}
        {onRestore && (
          <Button variant="primary" size="sm" onClick={then(onRestore)}>
            Restore
          </Button>
        )}
        <Button variant="outline-secondary" size="sm" onClick={then(onDiscard)}>
          Discard
        </Button>
      </div>
    </div>
  )
}

import type { ReactNode } from 'react'
import Button from 'react-bootstrap/Button'
import { CopyButton } from '../ui/copy/CopyButton'
import { oncePerPress } from '../ui/oncePerPress'
import { TimeAgo } from '../ui/time/TimeAgo'
import type { Offer } from './draft'

type DraftOfferProps = {
  offer: Offer
  children: ReactNode
  /** Shown next to the offer, for example that the saved version has changed. */
  warning?: string | false
  /** If missing, the draft cannot be restored here and can only be copied. */
  onRestore?: (() => unknown) | undefined
  copy?: string | undefined
  onDiscard: () => unknown
}

/** Offers to restore a draft, above the editor or form that it belongs to. */
export function DraftOffer({ offer, children, warning, onRestore, copy, onDiscard }: DraftOfferProps) {
  // An older draft may be offered in the same place.
  const then = (act: () => unknown) =>
    oncePerPress(({ currentTarget }) => {
      // The button unmounts with the offer, so the editor or form gets the focus.
      currentTarget.closest('.draft-offer')?.parentElement?.querySelector<HTMLElement>('input, textarea')?.focus()
      act()
    })
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
          <Button variant="primary" size="sm" {...then(onRestore)}>
            Restore
          </Button>
        )}
        <Button variant="outline-secondary" size="sm" {...then(onDiscard)}>
          Discard
        </Button>
      </div>
    </div>
  )
}

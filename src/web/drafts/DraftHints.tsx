import type { ReactNode } from 'react'
import Button from 'react-bootstrap/Button'
import { useSelector, useStore } from 'react-redux'
import { oncePerPress } from '../ui/oncePerPress'
import { TimeAgo } from '../ui/time/TimeAgo'
import type { Offer, Subject } from './draft'
import { selectOffers } from './draftsSlice'
import { keeperOf } from './keepDrafts'

type DraftHintsProps = {
  kind: Subject['kind']
  renderText: (name: string) => ReactNode
  renderAction: (offer: Offer) => ReactNode
}

/** Lists the unsaved drafts of one kind, on the page from which their editors are opened. */
export function DraftHints({ kind, renderText, renderAction }: DraftHintsProps) {
  const store = useStore()
  const offers = useSelector(selectOffers).filter((offer) => offer.kind === kind)
  return (
    <div role="status" className="draft-hints">
      {offers.map((offer) => (
        <div key={offer.id} className="draft-offer">
          <p>
            {renderText(offer.name)}{' '}
            <span className="draft-time">
              (<TimeAgo time={offer.keptAt} />)
            </span>
          </p>
          <div className="draft-actions">
            {renderAction(offer)}
            <Button variant="outline-secondary" size="sm" {...oncePerPress(() => keeperOf(store)?.discard(offer.id))}>
              Discard
            </Button>
          </div>
        </div>
      ))}
    </div>
  )
}

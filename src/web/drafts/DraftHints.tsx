import type { ReactNode } from 'react'
import Button from 'react-bootstrap/Button'
import { useSelector, useStore } from 'react-redux'
import { TimeAgo } from '../ui/TimeAgo'
import type { Offer, Subject } from './draft'
import { selectOffers } from './draftsSlice'
import { keeperOf } from './keepDrafts'

type DraftHintsProps = { kind: Subject['kind']; text: (name: string) => ReactNode; open: (offer: Offer) => ReactNode }

/** On the page from which editors are opened: which of them have something unsaved. */
export function DraftHints({ kind, text, open }: DraftHintsProps) {
  const store = useStore()
  const offers = useSelector(selectOffers).filter((offer) => offer.kind === kind)
  return (
    <div role="status" className="draft-hints">
      {offers.map((offer) => (
        <div key={offer.id} className="draft-offer">
          <p>
            {text(offer.name)}{' '}
            <span className="draft-time">
              (<TimeAgo time={offer.keptAt} />)
            </span>
          </p>
          <div className="draft-actions">
            {open(offer)}
            <Button variant="outline-secondary" size="sm" onClick={() => keeperOf(store)?.discard(offer.id)}>
              Discard
            </Button>
          </div>
        </div>
      ))}
    </div>
  )
}

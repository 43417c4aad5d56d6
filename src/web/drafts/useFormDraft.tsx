import { useEffect } from 'react'
import { DraftOffer } from './DraftOffer'
import { useDraft } from './useDraft'

/**
 * Keeps the draft of a dialog. `fields` is undefined if nothing is filled in. Call `drop` when the form is sent or
 * cancelled, and render `offered` in it.
 */
export function useFormDraft(
  name: string,
  fields: Record<string, string> | undefined,
  onRestore: (fields: Record<string, string>) => unknown,
) {
  const draft = useDraft({ kind: 'form', name }, () => fields)
  const { offer, changed, drop } = draft
  const filled = fields && JSON.stringify(fields)
  useEffect(() => void changed(), [filled, changed])

  const restore = () => {
    const taken = draft.restore()
    if (taken) onRestore(taken as Record<string, string>)
  }
  return {
    drop,
    offered: offer && (
      <DraftOffer offer={offer} onRestore={restore} onDiscard={draft.discard}>
        You began to fill in this form and did not finish it
      </DraftOffer>
    ),
  }
}

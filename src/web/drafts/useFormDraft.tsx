import { useEffect } from 'react'
import { DraftOffer } from './DraftOffer'
import { useDraft } from './useDraft'

/**
 * Keeps what was filled into a dialog. `fields` is undefined as long as that is nothing. Answers what to call when it is
 * done with, whether it was sent or given up, and what to show in the form.
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
    const taken = draft.take()
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

import { useEffect, useEffectEvent } from 'react'
import { useDispatch } from 'react-redux'
import type { Configuration } from '../../../contract/deployment'
import type { DraftContent } from '../../drafts/draft'
import { DraftOffer } from '../../drafts/DraftOffer'
import { useDraft } from '../../drafts/useDraft'
import { notified } from '../../facts'
import { draftDropped, draftRestored } from './configurationSlice'

type Edited = { text: string; revision?: string }

/** Keeps the draft of a configuration beyond the page, and offers what an earlier visit or another tab left. */
export function useKeptConfiguration(name: string, stored: Configuration, draft: Edited | undefined) {
  const kept = useDraft({ kind: 'configuration', name }, () => draft && { text: draft.text, revision: draft.revision })
  const { offer, content } = kept
  const dispatch = useDispatch()

  const drop = () => {
    kept.drop()
    dispatch(draftDropped(name))
  }
  const restore = (taken: DraftContent | undefined) => {
    if (!taken) return
    const { text, revision } = taken as Edited
    if (text === stored.content) return drop()
    dispatch(draftRestored({ name, text, ...(revision !== undefined && { revision }) }))
    return true
  }
  const restoreInterrupted = useEffectEvent(() => {
    if (restore(kept.takeInterrupted())) dispatch(notified('info', `What you had not saved in ${name} is back`))
  })
  useEffect(() => restoreInterrupted(), [kept.session])

  // It was saved, and the page ended before the draft was removed.
  const isSaved = content?.['text'] === stored.content
  const discard = useEffectEvent(() => kept.discard())
  useEffect(() => {
    if (isSaved) discard()
  }, [isSaved])

  const { revision } = content ?? {}
  // Only our platform tells revisions.
  const isOutdated = revision !== undefined && stored.revision !== undefined && revision !== stored.revision
  return {
    changed: kept.changed,
    drop,
    offered: offer && !isSaved && (
      <DraftOffer
        offer={offer}
        warning={isOutdated && 'Somebody saved another text since.'}
        onRestore={() => restore(kept.take())}
        onDiscard={kept.discard}
      >
        You have unsaved changes to this configuration
      </DraftOffer>
    ),
  }
}

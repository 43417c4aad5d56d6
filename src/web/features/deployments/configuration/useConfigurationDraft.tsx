import { useEffect, useEffectEvent } from 'react'
import { useDispatch } from 'react-redux'
import type { Configuration } from '../../../../contract/deployment'
import type { DraftContent } from '../../../drafts/draft'
import { DraftOffer } from '../../../drafts/DraftOffer'
import { useDraft } from '../../../drafts/useDraft'
import { notified } from '../../../facts'
import { draftDropped, draftRestored } from './configurationSlice'

type EditedText = { text: string; revision?: string }

/** Persists the draft of a configuration (drafts/), and offers drafts that an earlier visit or another tab left. */
export function useConfigurationDraft(name: string, stored: Configuration, draft: EditedText | undefined) {
  const storedDraft = useDraft(
    { kind: 'configuration', name },
    () => draft && { text: draft.text, revision: draft.revision },
  )
  const { offer, content } = storedDraft
  const dispatch = useDispatch()

  const drop = () => {
    storedDraft.drop()
    dispatch(draftDropped(name))
  }
  const restore = (taken: DraftContent | undefined) => {
    if (!taken) return
    const { text, revision } = taken as EditedText
    if (text === stored.content) return drop()
    dispatch(draftRestored({ name, text, ...(revision !== undefined && { revision }) }))
    return true
  }
  const restoreInterrupted = useEffectEvent(() => {
    if (restore(storedDraft.restoreInterrupted()))
      dispatch(notified('info', `Restored your unsaved changes to ${name}`))
  })
  useEffect(() => restoreInterrupted(), [storedDraft.session])

  // Equal texts mean that the page was closed after the save, before the draft was removed.
  const isSaved = content?.['text'] === stored.content
  const discard = useEffectEvent(() => storedDraft.discard())
  useEffect(() => {
    if (isSaved) discard()
  }, [isSaved])

  const { revision } = content ?? {}
  // Only our platform sends revisions.
  const isOutdated = revision !== undefined && stored.revision !== undefined && revision !== stored.revision
  return {
    changed: storedDraft.changed,
    drop,
    offered: offer && !isSaved && (
      <DraftOffer
        offer={offer}
        warning={isOutdated && 'Another version has been saved since.'}
        onRestore={() => restore(storedDraft.restore())}
        onDiscard={storedDraft.discard}
      >
        You have unsaved changes to this configuration
      </DraftOffer>
    ),
  }
}

import { useSelector } from 'react-redux'
import type { TextEncoding } from '../../../../contract/file'
import type { EntryRef } from '../../../api/files'
import type { OpenedFile } from '../../../api/fileTexts'
import { DraftOffer } from '../../../drafts/DraftOffer'
import { selectOffers } from '../../../drafts/draftsSlice'
import { useDraft } from '../../../drafts/useDraft'
import { baseName } from '../sharedPath'

/** Encoding and time are those of the file when it was edited, so that the save detects a change since then. */
export type TextDraft = { text: string; encoding?: TextEncoding; modifyTime?: number }
type File = Omit<OpenedFile, 'text'>

/**
 * Persists the unsaved text of a file (drafts/), and offers drafts that an earlier visit or another tab left. `read`
 * returns the unsaved text.
 */
export function useTextDraft(
  { path, name }: EntryRef,
  file: File | undefined,
  isUnreadable: boolean,
  read: () => string | undefined,
) {
  const draft = useDraft({ kind: 'file', name: path }, () => {
    const text = read()
    return file && text !== undefined ? { text, encoding: file.encoding, modifyTime: file.modifyTime } : undefined
  })
  const { offer, content } = draft
  const others = useSelector(selectOffers).filter((other) => other.kind === 'file' && other.name !== path)
  const isOutdated =
    file?.modifyTime !== undefined && content?.['modifyTime'] !== undefined && file.modifyTime !== content['modifyTime']

  return {
    changed: draft.changed,
    drop: draft.drop,
    restore: () => draft.restore() as TextDraft | undefined,
    restoreInterrupted: () => draft.restoreInterrupted() as TextDraft | undefined,
    offered: (onRestore: () => void) =>
      (file || isUnreadable) && (
        <>
          {offer && (
            <DraftOffer
              offer={offer}
              warning={isOutdated && 'The file has changed since.'}
              onRestore={file && onRestore}
              copy={isUnreadable ? (content?.['text'] as string | undefined) : undefined}
              onDiscard={draft.discard}
            >
              You have an unsaved text of <bdi>{name}</bdi>
            </DraftOffer>
          )}
          {others.length > 0 && (
            <p className="draft-offer" role="status">
              <span>
                You have an unsaved text of{' '}
                {others.map((other, at) => (
                  <span key={other.id}>
                    {at > 0 && ', '}
                    <bdi>{baseName(other.name)}</bdi>
                  </span>
                ))}
              </span>
            </p>
          )}
        </>
      ),
  }
}

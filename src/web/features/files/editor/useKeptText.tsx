import { useSelector } from 'react-redux'
import type { TextEncoding } from '../../../../contract/file'
import type { Item, OpenedFile } from '../../../api/files'
import { DraftOffer } from '../../../drafts/DraftOffer'
import { selectOffers } from '../../../drafts/draftsSlice'
import { useDraft } from '../../../drafts/useDraft'
import { nameOf } from '../sharedPath'

/** With what the file was when it was edited: one that changed since is noticed when it is saved. */
export type KeptText = { text: string; encoding?: TextEncoding; modifyTime?: number }
type File = Omit<OpenedFile, 'text'>

/** Keeps what is typed into a file beyond the page, and offers what an earlier visit or another tab left. `read` answers what is not saved. */
export function useKeptText(
  { path, name }: Item,
  file: File | undefined,
  isUnreadable: boolean,
  read: () => string | undefined,
) {
  const kept = useDraft({ kind: 'file', name: path }, () => {
    const text = read()
    return file && text !== undefined ? { text, encoding: file.encoding, modifyTime: file.modifyTime } : undefined
  })
  const { offer, content } = kept
  const others = useSelector(selectOffers).filter((other) => other.kind === 'file' && other.name !== path)
  const isOutdated =
    file?.modifyTime !== undefined && content?.['modifyTime'] !== undefined && file.modifyTime !== content['modifyTime']

  return {
    changed: kept.changed,
    drop: kept.drop,
    take: () => kept.take() as KeptText | undefined,
    takeInterrupted: () => kept.takeInterrupted() as KeptText | undefined,
    offered: (onRestore: () => void) =>
      (file || isUnreadable) && (
        <>
          {offer && (
            <DraftOffer
              offer={offer}
              warning={isOutdated && 'The file changed since.'}
              onRestore={file && onRestore}
              copy={isUnreadable ? (content?.['text'] as string | undefined) : undefined}
              onDiscard={kept.discard}
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
                    <bdi>{nameOf(other.name)}</bdi>
                  </span>
                ))}
              </span>
            </p>
          )}
        </>
      ),
  }
}

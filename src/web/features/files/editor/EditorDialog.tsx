import { Suspense, useState } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch } from 'react-redux'
import type { ApiFailure } from '../../../failure'
import type { OpenedFile } from '../../../api/fileTexts'
import { lazyOnDemand } from '../../../chunks'
import { counted } from '../../../ui/counted'
import { BusyButton } from '../../../ui/form/BusyButton'
import { useLeaveGuard } from '../../../ui/leave/useLeaveGuard'
import { useSaveKey } from '../../../ui/useSaveKey'
import type { Editing } from '../filesSlice'
import { conflictDetected, dialogClosed, draftChanged, leaveRequested } from '../filesSlice'
import { nameOfEncoding } from './encodings'
import { EditorQuestions } from './EditorQuestions'
import { useEditedFile } from './useEditedFile'
import styles from './editor.module.scss'
import { FailureAlert } from '../../../ui/FailureAlert'

// The dialog renders and fetches the file while the chunk of the editor loads.
const TextEditor = lazyOnDemand(
  async () => (await import(/* webpackChunkName: 'text-editor' */ './TextEditor')).TextEditor,
)

export function EditorDialog({ editing }: { editing: Editing }) {
  const { item, isChanged, asked } = editing
  const { file, editor, opening, saving, draft, restore, reload, saveFile } = useEditedFile(editing)
  const [lineEnds, setLineEnds] = useState('')
  const dispatch = useDispatch()

  const onSave = () => !asked && saveFile({ overwrite: false })
  const close = () => {
    if (saving.isLoading) return
    dispatch(isChanged ? leaveRequested(null) : dialogClosed('edit'))
  }

  useSaveKey(onSave)
  useLeaveGuard(isChanged, (leaving) => dispatch(leaveRequested(leaving)))

  const isConflict = (saving.error as ApiFailure | undefined)?.status === 409
  return (
    <Modal
      show
      onHide={close}
      size="xl"
      fullscreen="lg-down"
      centered
      aria-labelledby="editor-title"
      className={styles.dialog}
    >
      <Modal.Header closeButton={!saving.isLoading}>
        <div className={styles.title}>
          <Modal.Title as="h2" id="editor-title">
            <bdi>{item.name}</bdi>
          </Modal.Title>
          <code>{item.path}</code>
        </div>
      </Modal.Header>
      <Modal.Body>
        <FailureAlert error={opening.error} title="Failed to open file" />
        {draft.offered(restore)}
        {!isConflict && <FailureAlert error={saving.error} title="Failed to save file" />}
        {isConflict && !asked && (
          <div role="alert" className={`alert alert-danger ${styles.conflict}`}>
            The file changed since it was opened.
            <Button variant="outline-danger" size="sm" onClick={() => dispatch(conflictDetected())}>
              Decide
            </Button>
          </div>
        )}
        {file ? (
          <Suspense fallback={<EditorPlaceholder />}>
            <TextEditor
              key={file.version}
              ref={editor}
              name={item.name}
              text={file.text}
              unsaved={file.unsaved}
              onLoad={(about) => setLineEnds(about.lineEnds)}
              onChanged={(changed) => dispatch(draftChanged(changed))}
              onEdited={draft.changed}
            />
          </Suspense>
        ) : opening.data ? (
          // A replay has only the store's content, and texts of files are not in the store.
          <p className={styles.place}>{sizeInWords(opening.data)}, not recorded</p>
        ) : (
          !opening.error && <EditorPlaceholder />
        )}
      </Modal.Body>
      <Modal.Footer>
        {file && (
          <div className={styles.about}>
            <p role="status">
              <span>{nameOfEncoding(file.encoding)}</span>
              <span>{lineEnds}</span>
              <span className={isChanged ? styles.unsaved : undefined}>
                {isChanged ? 'Unsaved changes' : saving.isSuccess ? 'Saved' : ''}
              </span>
            </p>
            <p className={styles.keys}>Esc, then Tab leaves the text. A second Esc closes the file.</p>
          </div>
        )}
        <Button variant="outline-secondary" aria-disabled={saving.isLoading} onClick={close}>
          Cancel
        </Button>
        <BusyButton busy={saving.isLoading} busyText="Saving..." disabled={!file} onClick={onSave}>
          Save Changes
        </BusyButton>
      </Modal.Footer>
      <EditorQuestions
        editing={editing}
        onReload={reload}
        onOverwrite={() => saveFile({ overwrite: true })}
        onDiscard={draft.drop}
      />
    </Modal>
  )
}

const grouped = new Intl.NumberFormat('en')
/** Logs of earlier versions do not contain the length of the text. */
const sizeInWords = ({ characters, lines }: Partial<OpenedFile>) =>
  characters === undefined || lines === undefined
    ? 'The text'
    : `${counted(characters, 'character', grouped.format(characters))}, ${counted(lines, 'line', grouped.format(lines))}`

function EditorPlaceholder() {
  return (
    <div className={styles.place} role="status">
      <span className="spinner-border" aria-hidden="true" />
      <span className="visually-hidden">Loading the file</span>
    </div>
  )
}

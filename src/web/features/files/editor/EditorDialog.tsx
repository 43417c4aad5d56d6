import { Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch } from 'react-redux'
import type { ApiFailure } from '../../../failure'
import type { OpenedFile } from '../../../api/files'
import { useOpenFileMutation, useSaveFileMutation } from '../../../api/files'
import { holdText, takeText } from '../../../api/fileTexts'
import { lazyOnDemand } from '../../../chunks'
import { notified } from '../../../facts'
import { BusyButton } from '../../../ui/form/BusyButton'
import { useOneAtATime } from '../../../ui/useOneAtATime'
import { useLeaveGuard } from '../../../ui/leave/useLeaveGuard'
import { useSaveKey } from '../../../ui/useSaveKey'
import type { Editing } from '../filesSlice'
import { conflictDetected, dialogClosed, draftChanged, leaveRequested } from '../filesSlice'
import { canEncode, nameOfEncoding } from './encodings'
import { EditorQuestions } from './EditorQuestions'
import type { TextEditorHandle } from './TextEditor'
import type { TextDraft } from './useTextDraft'
import { useTextDraft } from './useTextDraft'
import styles from './editor.module.scss'
import { FailureAlert } from '../../../ui/FailureAlert'

// The dialog renders and fetches the file while the chunk of the editor loads.
const TextEditor = lazyOnDemand(
  async () => (await import(/* webpackChunkName: 'text-editor' */ './TextEditor')).TextEditor,
)

/** `version` increases each time the text is opened or replaced, and remounts the editor. */
type File = Omit<OpenedFile, 'text'> & { text: string; unsaved?: string; version: number }

export function EditorDialog({ editing }: { editing: Editing }) {
  const { item, isChanged, asked } = editing
  const [open, opening] = useOpenFileMutation()
  const [save, saving] = useSaveFileMutation()
  // The text of a file never enters the store.
  const [file, setFile] = useState<File>()
  const [lineEnds, setLineEnds] = useState('')
  const editor = useRef<TextEditorHandle>(null)
  const dispatch = useDispatch()
  const draft = useTextDraft(item, file, opening.error !== undefined, () =>
    isChanged ? editor.current?.text() : undefined,
  )

  const isUnmounted = useRef(false)
  const showFile = (opened: Omit<File, 'version' | 'unsaved'>, keptText: TextDraft | undefined) => {
    dispatch(draftChanged(false))
    saving.reset()
    const { text: unsaved, ...madeFrom } = keptText ?? {}
    setFile((known) => ({
      ...opened,
      ...madeFrom,
      ...(unsaved !== undefined && { unsaved }),
      version: (known?.version ?? 0) + 1,
    }))
  }
  const show = ({ data }: { data?: OpenedFile }) => {
    if (!data) return
    // The component is unmounted, so the text is discarded.
    if (isUnmounted.current) return takeText(data.text)
    const interrupted = draft.restoreInterrupted()
    if (interrupted) dispatch(notified('info', `What you had not saved in ${item.name} is back`))
    showFile({ ...data, text: takeText(data.text) ?? '' }, interrupted)
  }
  const restore = () => {
    const taken = draft.restore()
    if (file && taken) showFile(file, taken)
  }
  const reload = async () => {
    const answer = await open(item.path)
    if (answer.data) draft.drop()
    show(answer)
  }
  const showFirst = useEffectEvent(show)
  useEffect(() => {
    isUnmounted.current = false
    void open(item.path).then((answer) => showFirst(answer))
    return () => {
      isUnmounted.current = true
    }
  }, [open, item.path])

  const store = useOneAtATime(async ({ overwrite }: { overwrite: boolean }) => {
    if (!file || !editor.current || saving.isLoading || opening.isLoading) return
    const { text, saved } = editor.current.read()
    const { encoding, modifyTime } = file
    const isKept = canEncode(text, encoding)
    const storedAs = isKept ? encoding : 'utf-8'
    const { data, error } = await save({
      path: item.path,
      text: holdText(text),
      ...(storedAs && { encoding: storedAs }),
      ...(modifyTime !== undefined && !overwrite && { modifyTime }),
    })
    if ((error as ApiFailure | undefined)?.status === 409 && !overwrite) dispatch(conflictDetected())
    if (!data) return
    saved()
    if (!isKept) dispatch(notified('info', `Saved as UTF-8: ${nameOfEncoding(encoding)} lacks some of its characters`))
    const { modifyTime: _, ...known } = file
    setFile({ ...known, ...data, ...(storedAs && { encoding: storedAs }) })
  })
  const onSave = () => !asked && store({ overwrite: false })
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
          // A replay has only what was in the store, and texts are not.
          <p className={styles.place}>{sizeInWords(opening.data)}, not recorded</p>
        ) : (
          !opening.error && <EditorPlaceholder />
        )}
      </Modal.Body>
      <Modal.Footer>
        {file && (
          <p className={styles.about} role="status">
            <span>{nameOfEncoding(file.encoding)}</span>
            <span>{lineEnds}</span>
            <span className={isChanged ? styles.unsaved : undefined}>
              {isChanged ? 'Unsaved changes' : saving.isSuccess ? 'Saved' : ''}
            </span>
          </p>
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
        onOverwrite={() => store({ overwrite: true })}
        onDiscard={draft.drop}
      />
    </Modal>
  )
}

const grouped = new Intl.NumberFormat('en')
/** Logs of an earlier version do not hold the length of the text. */
const sizeInWords = ({ characters, lines }: Partial<OpenedFile>) =>
  characters === undefined || lines === undefined
    ? 'The text'
    : `${grouped.format(characters)} characters, ${grouped.format(lines)} lines`

function EditorPlaceholder() {
  return (
    <div className={styles.place} role="status">
      <span className="spinner-border" aria-hidden="true" />
      <span className="visually-hidden">Loading the file</span>
    </div>
  )
}

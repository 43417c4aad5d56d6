import { Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import Button from 'react-bootstrap/Button'
import Modal from 'react-bootstrap/Modal'
import { useDispatch } from 'react-redux'
import type { ApiFailure } from '../../../api/failure'
import type { OpenedFile } from '../../../api/files'
import { useOpenFileMutation, useSaveFileMutation } from '../../../api/files'
import { holdText, takeText } from '../../../api/fileTexts'
import { lazyOnDemand } from '../../../chunks'
import { notified } from '../../../facts'
import { BusyButton } from '../../../ui/BusyButton'
import { useOneAtATime } from '../../../ui/useOneAtATime'
import { useLeaveGuard } from '../../../ui/useLeaveGuard'
import { useSaveKey } from '../../../ui/useSaveKey'
import { DialogFailure } from '../DialogFailure'
import type { Editing } from '../filesSlice'
import { conflictMet, dialogClosed, draftChanged, leaveAsked } from '../filesSlice'
import { fits, nameOfEncoding } from './encodings'
import { EditorQuestions } from './EditorQuestions'
import type { TextEditorHandle } from './TextEditor'
import type { KeptText } from './useKeptText'
import { useKeptText } from './useKeptText'
import './editor.scss'

// The dialog shows, and fetches the file, while the editor itself is still on its way.
const TextEditor = lazyOnDemand(
  async () => (await import(/* webpackChunkName: 'text-editor' */ './TextEditor')).TextEditor,
)

/** `version` tells one opening from the next. */
type File = Omit<OpenedFile, 'text'> & { text: string; unsaved?: string; version: number }

export function EditorDialog({ editing }: { editing: Editing }) {
  const { item, isChanged, asked } = editing
  const [open, opening] = useOpenFileMutation()
  const [save, saving] = useSaveFileMutation()
  // The text of a file is never in the store.
  const [file, setFile] = useState<File>()
  const [lineEnds, setLineEnds] = useState('')
  const editor = useRef<TextEditorHandle>(null)
  const dispatch = useDispatch()
  const kept = useKeptText(item, file, opening.error !== undefined, () =>
    isChanged ? editor.current?.text() : undefined,
  )

  const isGone = useRef(false)
  const put = (opened: Omit<File, 'version' | 'unsaved'>, keptText: KeptText | undefined) => {
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
    // Too late: by now another file may be open.
    if (isGone.current) return takeText(data.text)
    const interrupted = kept.takeInterrupted()
    if (interrupted) dispatch(notified('info', `What you had not saved in ${item.name} is back`))
    put({ ...data, text: takeText(data.text) ?? '' }, interrupted)
  }
  const restore = () => {
    const taken = kept.take()
    if (file && taken) put(file, taken)
  }
  const reload = async () => {
    const answer = await open(item.path)
    if (answer.data) kept.drop()
    show(answer)
  }
  const showFirst = useEffectEvent(show)
  useEffect(() => {
    isGone.current = false
    void open(item.path).then((answer) => showFirst(answer))
    return () => {
      isGone.current = true
    }
  }, [open, item.path])

  const store = useOneAtATime(async ({ overwrite }: { overwrite: boolean }) => {
    if (!file || !editor.current || saving.isLoading || opening.isLoading) return
    const { text, saved } = editor.current.read()
    const { encoding, modifyTime } = file
    const isKept = fits(text, encoding)
    const storedAs = isKept ? encoding : 'utf-8'
    const { data, error } = await save({
      path: item.path,
      text: holdText(text),
      ...(storedAs && { encoding: storedAs }),
      ...(modifyTime !== undefined && !overwrite && { modifyTime }),
    })
    if ((error as ApiFailure | undefined)?.status === 409 && !overwrite) dispatch(conflictMet())
    if (!data) return
    saved()
    if (!isKept) dispatch(notified('info', `Saved as UTF-8: ${nameOfEncoding(encoding)} lacks some of its characters`))
    const { modifyTime: _, ...known } = file
    setFile({ ...known, ...data, ...(storedAs && { encoding: storedAs }) })
  })
  const onSave = () => !asked && store({ overwrite: false })
  const close = () => {
    if (saving.isLoading) return
    dispatch(isChanged ? leaveAsked(null) : dialogClosed('edit'))
  }

  useSaveKey(onSave)
  useLeaveGuard(isChanged, (leaving) => dispatch(leaveAsked(leaving)))

  const isConflict = (saving.error as ApiFailure | undefined)?.status === 409
  return (
    <Modal
      show
      onHide={close}
      size="xl"
      fullscreen="lg-down"
      centered
      aria-labelledby="editor-title"
      className="editor-dialog"
    >
      <Modal.Header closeButton={!saving.isLoading}>
        <div className="editor-title">
          <Modal.Title as="h2" id="editor-title">
            <bdi>{item.name}</bdi>
          </Modal.Title>
          <code>{item.path}</code>
        </div>
      </Modal.Header>
      <Modal.Body>
        <DialogFailure error={opening.error} text="Failed to open file" />
        {kept.offered(restore)}
        {!isConflict && <DialogFailure error={saving.error} text="Failed to save file" />}
        {isConflict && !asked && (
          <div role="alert" className="alert alert-danger editor-conflict">
            The file changed since it was opened.
            <Button variant="outline-danger" size="sm" onClick={() => dispatch(conflictMet())}>
              Decide
            </Button>
          </div>
        )}
        {file ? (
          <Suspense fallback={<EditorPlace />}>
            <TextEditor
              key={file.version}
              ref={editor}
              name={item.name}
              text={file.text}
              unsaved={file.unsaved}
              onLoad={(about) => setLineEnds(about.lineEnds)}
              onChanged={(changed) => dispatch(draftChanged(changed))}
              onEdited={kept.changed}
            />
          </Suspense>
        ) : opening.data ? (
          // A replay has what the store had.
          <p className="editor-place">{inWords(opening.data)}, not recorded</p>
        ) : (
          !opening.error && <EditorPlace />
        )}
      </Modal.Body>
      <Modal.Footer>
        {file && (
          <p className="editor-about" role="status">
            <span>{nameOfEncoding(file.encoding)}</span>
            <span>{lineEnds}</span>
            <span className={isChanged ? 'unsaved' : undefined}>
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
        onDiscard={kept.drop}
      />
    </Modal>
  )
}

const grouped = new Intl.NumberFormat('en')
/** A log of an earlier console does not say how long it was. */
const inWords = ({ characters, lines }: Partial<OpenedFile>) =>
  characters === undefined || lines === undefined
    ? 'The text'
    : `${grouped.format(characters)} characters, ${grouped.format(lines)} lines`

function EditorPlace() {
  return (
    <div className="editor-place" role="status">
      <span className="spinner-border" aria-hidden="true" />
      <span className="visually-hidden">Loading the file</span>
    </div>
  )
}

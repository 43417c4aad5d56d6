import type { Ace } from 'ace-builds'
import type { Ref } from 'react'
import { useImperativeHandle, useRef, useState } from 'react'
import AceEditor from 'react-ace'
import { beginEditor } from '../../../ui/ace'
import { BOM } from './encodings'
import { createLineEnds } from './lineEnds'
import { hasWorker, modeOf } from './modes'
import { TextProblem } from './TextProblem'
import styles from './editor.module.scss'

export type TextEditorHandle = {
  /** Returns the text as a save would store it. */
  text: () => string
  /** Returns the text for a save and begins a new undo step. `saved` marks the returned text as saved. */
  read: () => { text: string; saved: () => void }
  focus: () => void
}

type TextEditorProps = {
  ref: Ref<TextEditorHandle>
  name: string
  /** The text as opened. Another text needs another instance (`key`). */
  text: string
  /** A draft of this text. It is inserted as a change, so that undo restores `text`. */
  unsaved?: string | undefined
  onLoad: (about: { lineEnds: string }) => void
  /** Called when the text becomes changed or unchanged. */
  onChanged: (isChanged: boolean) => void
  /** Called for each change of the text. */
  onEdited: () => void
}

/** The only component of the editor that uses Ace. It holds the text, which must never enter the store. */
export function TextEditor({ ref, name, text, unsaved, onLoad, onChanged, onEdited }: TextEditorProps) {
  const read = useRef<TextEditorHandle['read']>(() => ({ text, saved: () => {} }))
  const current = useRef(() => text)
  const editor = useRef<Ace.Editor>(null)
  /** What Ace's worker for this language found. */
  const [found, setFound] = useState<Ace.Annotation[]>([])
  useImperativeHandle(
    ref,
    () => ({ text: () => current.current(), read: () => read.current(), focus: () => editor.current?.focus() }),
    [],
  )

  const begin = (loaded: Ace.Editor) => {
    const { session } = loaded
    const undo = session.getUndoManager()
    const mark = text.startsWith(BOM) ? BOM : ''
    const content = text.slice(mark.length)
    const ends = createLineEnds(content)
    session.setNewLineMode('unix')
    session.setValue(content)
    undo.markClean()
    let isChanged = false
    const reportChange = () => {
      if (isChanged === undo.isClean()) onChanged((isChanged = !isChanged))
      onEdited()
    }
    session.on('change', (change) => {
      ends.changed(change)
      reportChange()
      // While it undoes, Ace updates its revision only after it emits the change.
      queueMicrotask(reportChange)
    })
    session.on('changeAnnotation', () => setFound(session.getAnnotations()))
    current.current = () => mark + ends.join(session.getDocument().getAllLines())
    read.current = () => {
      // Text that is typed from now on is an undo step of its own and not part of this save.
      session.markUndoGroup()
      const revision = undo.getRevision()
      return {
        text: current.current(),
        saved() {
          undo.markClean(revision)
          reportChange()
        },
      }
    }
    if (unsaved !== undefined) {
      const changed = unsaved.slice(unsaved.startsWith(BOM) ? BOM.length : 0)
      session.getDocument().setValue(changed)
      ends.replaceAll(changed)
    }
    editor.current = loaded
    beginEditor(loaded)
    loaded.navigateFileStart()
    loaded.focus()
    onLoad({ lineEnds: ends.kind })
  }

  const mode = modeOf(name)
  return (
    <>
      <AceEditor
        name="file-text"
        className={styles.fileEditor}
        mode={mode}
        width="100%"
        height="100%"
        fontSize={14}
        tabSize={2}
        wrapEnabled
        showPrintMargin={false}
        scrollMargin={[8, 8, 0, 0]}
        // Without the keyboard option, Tab would never leave the editor (focus trap).
        setOptions={{
          textInputAriaLabel: `Text of ${name}`,
          enableKeyboardAccessibility: true,
          useSoftTabs: true,
          enableMobileMenu: false,
          useWorker: hasWorker(mode),
        }}
        onLoad={begin}
      />
      <TextProblem
        found={found}
        onGoTo={(line) => {
          editor.current?.gotoLine(line, 0, false)
          editor.current?.focus()
        }}
      />
    </>
  )
}

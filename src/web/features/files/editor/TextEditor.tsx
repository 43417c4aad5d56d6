import type { Ace } from 'ace-builds'
import type { Ref } from 'react'
import { useImperativeHandle, useRef } from 'react'
import AceEditor from 'react-ace'
import { theme } from '../../../ui/ace'
import { BOM } from './encodings'
import { createLineEnds } from './lineEnds'
import { hasWorker, modeOf } from './modes'

export type TextEditorHandle = {
  /** As it would be saved now. */
  text: () => string
  /** The same, for a save that ends a step of undoing, and how to say that it was saved. */
  read: () => { text: string; saved: () => void }
  focus: () => void
}

type TextEditorProps = {
  ref: Ref<TextEditorHandle>
  name: string
  /** As it was opened; another one needs another editor. */
  text: string
  /** What was made of it before; put in as a change. */
  unsaved?: string | undefined
  onLoad: (about: { lineEnds: string }) => void
  /** Whether there is anything to save; told when that turns. */
  onChanged: (isChanged: boolean) => void
  /** With every change of the text. */
  onEdited: () => void
}

/** Everything that touches Ace. It holds the text by itself: a file is no part of the console's state. */
export function TextEditor({ ref, name, text, unsaved, onLoad, onChanged, onEdited }: TextEditorProps) {
  const read = useRef<TextEditorHandle['read']>(() => ({ text, saved: () => {} }))
  const current = useRef(() => text)
  const editor = useRef<Ace.Editor>(null)
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
    const tell = () => {
      if (isChanged === undo.isClean()) onChanged((isChanged = !isChanged))
      onEdited()
    }
    session.on('change', (change) => {
      ends.changed(change)
      tell()
      // Where it undoes, Ace knows its revision only after it told of the change.
      queueMicrotask(tell)
    })
    current.current = () => mark + ends.join(session.getDocument().getAllLines())
    read.current = () => {
      // What is typed from now on is a step of its own, and not what is saved here.
      session.markUndoGroup()
      const revision = undo.getRevision()
      return {
        text: current.current(),
        saved() {
          undo.markClean(revision)
          tell()
        },
      }
    }
    if (unsaved !== undefined) {
      const changed = unsaved.slice(unsaved.startsWith(BOM) ? BOM.length : 0)
      session.getDocument().setValue(changed)
      ends.became(changed)
    }
    editor.current = loaded
    loaded.renderer.setTheme(theme)
    loaded.navigateFileStart()
    loaded.focus()
    onLoad({ lineEnds: ends.kind })
  }

  const mode = modeOf(name)
  return (
    <AceEditor
      name="file-text"
      className="file-editor"
      mode={mode}
      width="100%"
      height="100%"
      fontSize={14}
      tabSize={2}
      wrapEnabled
      showPrintMargin={false}
      scrollMargin={[8, 8, 0, 0]}
      // Without the keyboard option Tab would never leave the text again.
      setOptions={{
        textInputAriaLabel: `Text of ${name}`,
        enableKeyboardAccessibility: true,
        useSoftTabs: true,
        enableMobileMenu: false,
        useWorker: hasWorker(mode),
      }}
      onLoad={begin}
    />
  )
}

import type { Ace } from 'ace-builds'
import type { Ref } from 'react'
import { useEffect, useImperativeHandle, useState } from 'react'
import AceEditor from 'react-ace'
import { beginEditor } from '../../../ui/ace'
import styles from './configuration.module.scss'

/** `line` is one-based. */
export type Problem = { severity: 'error' | 'warning'; message: string; line?: number }
export type YamlEditorHandle = { goTo: (line: number) => void }

type YamlEditorProps = {
  ref: Ref<YamlEditorHandle>
  label: string
  /** Id of the element that describes the editor. */
  describedBy: string
  value: string
  problems: Problem[] | undefined
  onChange: (text: string) => void
}

/** The only module of the feature that uses Ace. */
export function YamlEditor({ ref, label, describedBy, value, problems, onChange }: YamlEditorProps) {
  const [editor, setEditor] = useState<Ace.Editor>()

  useImperativeHandle(
    ref,
    () => ({
      goTo(line) {
        editor?.gotoLine(line, 0, false)
        editor?.focus()
      },
    }),
    [editor],
  )

  // A text, because each render makes new objects.
  const marks = JSON.stringify(
    problems?.flatMap(({ line, message, severity }) =>
      line === undefined ? [] : [{ row: line - 1, column: 0, text: message, type: severity }],
    ) ?? [],
  )
  useEffect(() => {
    const annotations = JSON.parse(marks) as Ace.Annotation[]
    if (!editor || annotations.length === 0) return
    const { session } = editor
    // Ace's own worker replaces our annotations with its own for the same errors whenever it finishes.
    const show = () => {
      const shown = session.getAnnotations()
      const isShown = ({ row, text }: Ace.Annotation, index: number) =>
        shown[index]?.text === text && shown[index].row === row
      if (shown.length !== annotations.length || !annotations.every(isShown)) session.setAnnotations(annotations)
    }
    show()
    session.on('changeAnnotation', show)
    return () => {
      session.off('changeAnnotation', show)
      session.clearAnnotations()
    }
  }, [editor, marks])

  return (
    <AceEditor
      name="configuration-text"
      className={styles.editor}
      mode="yaml"
      width="100%"
      height="100%"
      fontSize={14}
      tabSize={2}
      wrapEnabled
      showPrintMargin={false}
      scrollMargin={[8, 8, 0, 0]}
      value={value}
      onChange={onChange}
      // Without the keyboard option, Tab would never leave the editor (focus trap).
      setOptions={{
        textInputAriaLabel: label,
        enableKeyboardAccessibility: true,
        useSoftTabs: true,
        enableMobileMenu: false,
      }}
      onLoad={(loaded: Ace.Editor) => {
        beginEditor(loaded)
        loaded.textInput.getElement().setAttribute('aria-describedby', describedBy)
        leaveTextByEscape(loaded)
        loaded.navigateFileStart()
        setEditor(loaded)
      }}
    />
  )
}

/**
 * One Esc leaves the text, so that "Esc, then Tab" leaves the editor from anywhere. With several cursors, Ace's own Esc
 * would only remove the additional cursors.
 */
function leaveTextByEscape(editor: Ace.Editor): void {
  editor.container.addEventListener(
    'keydown',
    (event) => {
      // Esc in the search panel closes the panel, and Esc in a composition cancels the composition.
      if (event.key !== 'Escape' || event.target !== editor.textInput.getElement() || event.isComposing) return
      event.preventDefault()
      event.stopPropagation()
      editor.exitMultiSelectMode()
      editor.blur()
      editor.container.querySelector<HTMLElement>('.ace_scroller')?.focus()
    },
    true,
  )
}

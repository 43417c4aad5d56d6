import type { Ace } from 'ace-builds'
import type { Ref } from 'react'
import { useEffect, useImperativeHandle, useState } from 'react'
import AceEditor from 'react-ace'
import { theme } from '../../ui/ace'
import '../../ui/aceYaml'

/** `line` is counted from 1. */
export type Problem = { severity: 'error' | 'warning'; message: string; line?: number }
export type YamlEditorHandle = { goTo: (line: number) => void }

type YamlEditorProps = {
  ref: Ref<YamlEditorHandle>
  label: string
  value: string
  problem: Problem | null | undefined
  onChange: (text: string) => void
}

/** Everything that touches Ace. */
export function YamlEditor({ ref, label, value, problem, onChange }: YamlEditorProps) {
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

  useEffect(() => {
    if (!editor || !problem?.line) return
    const { session } = editor
    const mark = { row: problem.line - 1, column: 0, text: problem.message, type: problem.severity }
    // Ace's own worker writes its findings over ours whenever it is done, in other words for the same mistake.
    const show = () => {
      const shown = session.getAnnotations()
      if (shown.length !== 1 || shown[0]?.text !== mark.text || shown[0].row !== mark.row)
        session.setAnnotations([mark])
    }
    show()
    session.on('changeAnnotation', show)
    return () => {
      session.off('changeAnnotation', show)
      session.clearAnnotations()
    }
  }, [editor, problem?.line, problem?.message, problem?.severity])

  return (
    <AceEditor
      name="configuration-text"
      className="configuration-editor"
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
      // Without the keyboard option Tab would never leave the text again.
      setOptions={{
        textInputAriaLabel: label,
        enableKeyboardAccessibility: true,
        useSoftTabs: true,
        enableMobileMenu: false,
      }}
      onLoad={(loaded: Ace.Editor) => {
        loaded.renderer.setTheme(theme)
        loaded.navigateFileStart()
        setEditor(loaded)
      }}
    />
  )
}

import { act } from '@testing-library/react'
import type { Ace } from 'ace-builds'
import ace from 'ace-builds'

/** The editor on the page through Ace's own interface, because it draws text itself and jsdom does not draw. */
export function aceEditor() {
  const element = document.querySelector<HTMLElement>('.ace_editor')
  if (!element) throw new Error('There is no editor on the page')
  const editor = ace.edit(element)
  return {
    text: () => editor.getValue(),
    marks: () => editor.session.getAnnotations().map(({ row, type, text }) => ({ line: (row ?? 0) + 1, type, text })),
    findings: (annotations: Ace.Annotation[]) => act(() => editor.session.setAnnotations(annotations)),
    /** One-based. */
    cursorLine: () => editor.getCursorPosition().row + 1,
    /** Adds a cursor at the start of a line. One-based. */
    addCursor: (line: number) =>
      act(
        () =>
          void editor.selection.addRange(
            ace.Range.fromPoints({ row: line - 1, column: 0 }, { row: line - 1, column: 0 }),
          ),
      ),
    cursors: () => editor.selection.getAllRanges().length,
    type: (text: string) => act(() => editor.insert(text)),
    write: (text: string) => act(() => void editor.setValue(text, 1)),
    undo: () => act(() => editor.undo()),
  }
}

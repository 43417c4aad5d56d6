import type { LogSelection, Place } from '../../instanceSlice'
import { endsOf } from './logSelection'

const rowsOf = (pane: Element) => [...pane.querySelectorAll<HTMLElement>('[data-line]')]
const lineOf = (row: HTMLElement) => Number(row.dataset.line)

/** Returns the text position nearest to a point of the viewport. */
export function placeAt(pane: Element, x: number, y: number): Place | undefined {
  const rows = rowsOf(pane)
  const row = rows.find((candidate) => candidate.getBoundingClientRect().bottom > y) ?? rows.at(-1)
  if (!row) return undefined
  const { top, bottom } = row.getBoundingClientRect()
  // Above the rows this is the start of the first row, below them the end of the last.
  if (y < top) return { line: lineOf(row), column: 0 }
  if (y >= bottom) return { line: lineOf(row), column: row.textContent.length }
  const { left, width } = pane.getBoundingClientRect()
  return { line: lineOf(row), column: columnAt(row, Math.min(Math.max(x, left + 1), left + width - 1), y) }
}

function columnAt(row: HTMLElement, x: number, y: number) {
  const caret = caretAt(x, y)
  if (!caret || !row.contains(caret.node)) return x <= row.getBoundingClientRect().left ? 0 : row.textContent.length
  const range = document.createRange()
  range.setStart(row, 0)
  range.setEnd(caret.node, caret.offset)
  return range.toString().length
}

/** `caretPositionFromPoint` is the standard; older versions of Chrome and Safari only have `caretRangeFromPoint`. */
function caretAt(x: number, y: number) {
  if ('caretPositionFromPoint' in document) {
    const position = document.caretPositionFromPoint(x, y)
    return position && { node: position.offsetNode, offset: position.offset }
  }
  const range = (document as Document).caretRangeFromPoint(x, y)
  return range && { node: range.startContainer, offset: range.startOffset }
}

/** Shows the rendered part of a selection as the browser's own selection. */
export function showSelection(pane: Element, selection: LogSelection) {
  const native = window.getSelection()
  const rows = rowsOf(pane)
  const [first, last] = [rows[0], rows.at(-1)]
  if (!native || !first || !last) return
  const [from, to] = endsOf(selection)
  if (to.line < lineOf(first) || from.line > lineOf(last)) return eraseSelection(pane)
  const start = from.line < lineOf(first) ? { node: first, offset: 0 } : pointOf(rows, from)
  const end = to.line > lineOf(last) ? { node: last, offset: last.childNodes.length } : pointOf(rows, to)
  if (start && end) native.setBaseAndExtent(start.node, start.offset, end.node, end.offset)
}

export function eraseSelection(pane: Element) {
  const native = window.getSelection()
  if (native && pane.contains(native.anchorNode)) native.removeAllRanges()
}

function pointOf(rows: HTMLElement[], { line, column }: Place) {
  const row = rows.find((candidate) => lineOf(candidate) === line)
  if (!row) return undefined
  const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT)
  let before = 0
  for (let node = texts.nextNode() as Text | null; node; node = texts.nextNode() as Text | null) {
    if (column <= before + node.length) return { node, offset: column - before }
    before += node.length
  }
  return { node: row, offset: row.childNodes.length }
}

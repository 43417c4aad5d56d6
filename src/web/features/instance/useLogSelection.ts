import type { RefObject } from 'react'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import type { LineBuffer } from '../../sockets/lineBuffer'
import { drawSelection, eraseSelection, placeAt } from './drawnSelection'
import type { LogSelection, Place } from './instanceSlice'
import { scrolledAway, selectionEnded, selectSelection, textSelected } from './instanceSlice'
import { HEIGHT, ROW } from './logGeometry'
import { isSamePlace, linesBetween, movedBy, selectedText, wordAt } from './logSelection'

/** While the button is down the selection follows the pointer, and the lines under it, so often. In milliseconds. */
const FOLLOW_MS = 30
/** So far the pointer may tremble in a click. In pixels. */
const TREMBLE = 3

/**
 * The browser's own selection ends where the drawn lines end. This one is made of line numbers and columns: it grows while
 * the log is dragged or scrolled, and what is seen of it is shown as the browser's own. Touch keeps the browser's.
 */
export function useLogSelection(pane: RefObject<HTMLElement | null>, buffer: LineBuffer) {
  const selection = useSelector(selectSelection)
  const dispatch = useDispatch()
  const now = useRef({ selection, buffer })

  useLayoutEffect(() => {
    const isEnded = now.current.selection !== null && selection === null
    now.current = { selection, buffer }
    if (pane.current && isEnded) eraseSelection(pane.current)
    if (pane.current && selection && !isTypedInto(document.activeElement)) drawSelection(pane.current, selection)
  })

  useEffect(() => {
    const box = pane.current
    if (!box) return
    let endDrag: (() => void) | undefined

    const select = (next: LogSelection) => {
      const { selection: known } = now.current
      if (!known || !isSamePlace(known.anchor, next.anchor) || !isSamePlace(known.focus, next.focus))
        dispatch(textSelected(next))
    }
    const end = () => now.current.selection && dispatch(selectionEnded())

    const onMouseDown = (event: MouseEvent) => {
      const { left, top } = box.getBoundingClientRect()
      const isOnScrollBar = event.clientX - left >= box.clientWidth || event.clientY - top >= box.clientHeight
      const place = event.button === 0 && !isOnScrollBar && placeAt(box, event.clientX, event.clientY)
      if (!place) return
      event.preventDefault()
      box.focus({ preventScroll: true })
      const { selection: known, buffer: lines } = now.current
      if (event.shiftKey && known) select({ anchor: known.anchor, focus: place })
      else if (event.detail === 2) return select(wordAt(lines, place))
      else if (event.detail > 2) return select(linesBetween(lines, place.line, place.line))
      else select({ anchor: place, focus: place })
      endDrag?.()
      endDrag = follow(box, event, (focus) => select({ anchor: event.shiftKey && known ? known.anchor : place, focus }))
    }

    const onKeyDown = (event: KeyboardEvent) => {
      const { selection: known, buffer: lines } = now.current
      if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault()
        select(linesBetween(lines, lines.first, lines.next - 1))
      } else if (event.key === 'Escape') end()
      else if (event.shiftKey && STEPS[event.key]) {
        event.preventDefault()
        const steps = STEPS[event.key] ?? 0
        const anchor = known?.anchor ?? edgeOf(box, steps)
        if (!anchor) return
        const focus = movedBy(lines, known?.focus ?? anchor, steps)
        select({ anchor, focus })
        if (!isSeen(box, focus)) dispatch(scrolledAway({ line: focus.line, offset: steps > 0 ? ROW - HEIGHT : 0 }))
      }
    }

    const onCopy = (event: ClipboardEvent) => {
      const { selection: known, buffer: lines } = now.current
      const text = known && !isTypedInto(document.activeElement) ? selectedText(lines, known) : ''
      if (text === '') return
      event.preventDefault()
      event.clipboardData?.setData('text/plain', text)
    }
    // The selection is one for the whole page: where another begins, or somebody types, this one is over.
    const onFocus = (event: FocusEvent) => isTypedInto(event.target) && end()
    const onPageDown = (event: MouseEvent) => {
      const isOurs = event.target instanceof Element && event.target.closest('.console')
      if (!isOurs) end()
    }

    box.addEventListener('mousedown', onMouseDown)
    box.addEventListener('keydown', onKeyDown)
    document.addEventListener('copy', onCopy)
    document.addEventListener('focusin', onFocus)
    document.addEventListener('mousedown', onPageDown)
    return () => {
      endDrag?.()
      box.removeEventListener('mousedown', onMouseDown)
      box.removeEventListener('keydown', onKeyDown)
      document.removeEventListener('copy', onCopy)
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('mousedown', onPageDown)
    }
  }, [pane, dispatch])
}

/** Lines by key; so many that it is all. */
const STEPS: Record<string, number> = {
  ArrowUp: -1,
  ArrowDown: 1,
  PageUp: -Math.floor(HEIGHT / ROW),
  PageDown: Math.floor(HEIGHT / ROW),
  Home: -Number.MAX_SAFE_INTEGER,
  End: Number.MAX_SAFE_INTEGER,
}

const isTypedInto = (target: EventTarget | null) =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement

/** Where a selection by keyboard begins: at the seen text's end, or at its beginning when it goes down. */
function edgeOf(pane: Element, steps: number) {
  const { left, top } = pane.getBoundingClientRect()
  return steps > 0 ? placeAt(pane, left, top + 1) : placeAt(pane, left + pane.clientWidth, top + pane.clientHeight - 1)
}

function isSeen(pane: Element, { line }: Place) {
  const row = pane.querySelector(`[data-line="${line}"]`)
  const { top } = pane.getBoundingClientRect()
  const { top: rowTop, bottom = 0 } = row?.getBoundingClientRect() ?? {}
  return rowTop !== undefined && rowTop >= top - 1 && bottom <= top + pane.clientHeight + 1
}

/** Tells where the pointer is until its button is up, and scrolls when that is beyond the pane. @returns how to end it. */
function follow(pane: HTMLElement, { clientX, clientY }: MouseEvent, tell: (place: Place) => void) {
  let [x, y] = [clientX, clientY]
  let hasMoved = false
  const step = () => {
    if (!hasMoved) return
    const { top, height } = pane.getBoundingClientRect()
    const beyond = y < top ? y - top : Math.max(0, y - top - height)
    if (beyond !== 0) pane.scrollTop += beyond
    const place = placeAt(pane, x, Math.min(Math.max(y, top + 1), top + height - 1))
    if (place) tell(place)
  }
  const onMove = (event: MouseEvent) => {
    ;[x, y] = [event.clientX, event.clientY]
    hasMoved ||= Math.abs(x - clientX) > TREMBLE || Math.abs(y - clientY) > TREMBLE
    if (event.buttons === 0) stop()
  }
  const onUp = () => {
    step()
    stop()
  }
  const stop = () => {
    clearInterval(timer)
    document.removeEventListener('mousemove', onMove)
    document.removeEventListener('mouseup', onUp)
  }
  const timer = setInterval(step, FOLLOW_MS)
  document.addEventListener('mousemove', onMove)
  document.addEventListener('mouseup', onUp)
  return stop
}

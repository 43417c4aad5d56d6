import type { RefObject } from 'react'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { usePaneDispatch, usePaneSelector } from '../pane'
import type { LineBuffer } from '../../../../sockets/lineBuffer'
import { showSelection, eraseSelection, placeAt } from './renderedSelection'
import type { LogSelection, Place } from '../../instanceSlice'
import { scrolledAway, selectionEnded, selectSelection, textSelected } from '../../instanceSlice'
import { heightOf, ROW_HEIGHT_PX } from './logGeometry'
import { isSamePlace, linesBetween, movedBy, selectedText, wordAt } from './logSelection'
import styles from '../console.module.scss'

/** Interval in which the selection follows the pointer and the scrolling lines during a drag. */
const TRACK_INTERVAL_MS = 30
/** Movement in pixels that still counts as a click. */
const CLICK_TOLERANCE_PX = 3

/**
 * A text selection by line numbers and columns, because the browser's own ends at the rendered rows. Its visible part
 * is shown as the browser's selection. Touch uses the browser's selection only.
 */
export function useLogSelection(pane: RefObject<HTMLElement | null>, buffer: LineBuffer) {
  const selection = usePaneSelector(selectSelection)
  const dispatch = usePaneDispatch()
  const now = useRef({ selection, buffer })

  useLayoutEffect(() => {
    const isEnded = now.current.selection !== null && selection === null
    now.current = { selection, buffer }
    if (pane.current && isEnded) eraseSelection(pane.current)
    if (pane.current && selection && !isTypedInto(document.activeElement)) showSelection(pane.current, selection)
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
      endDrag = trackDrag(box, event, (focus) =>
        select({ anchor: event.shiftKey && known ? known.anchor : place, focus }),
      )
    }

    const onKeyDown = (event: KeyboardEvent) => {
      const { selection: known, buffer: lines } = now.current
      if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault()
        select(linesBetween(lines, lines.first, lines.next - 1))
      } else if (event.key === 'Escape') end()
      else if (event.shiftKey && stepsOf(event.key, box)) {
        event.preventDefault()
        const steps = stepsOf(event.key, box)
        const anchor = known?.anchor ?? edgeOf(box, steps)
        if (!anchor) return
        const focus = movedBy(lines, known?.focus ?? anchor, steps)
        select({ anchor, focus })
        if (!isSeen(box, focus))
          dispatch(scrolledAway({ line: focus.line, offset: steps > 0 ? ROW_HEIGHT_PX - heightOf(box) : 0 }))
      }
    }

    const onCopy = (event: ClipboardEvent) => {
      const { selection: known, buffer: lines } = now.current
      const text = known && !isTypedInto(document.activeElement) ? selectedText(lines, known) : ''
      if (text === '') return
      event.preventDefault()
      event.clipboardData?.setData('text/plain', text)
    }
    // The browser has one selection per page: this one ends when another begins or an input gets the focus.
    const onFocus = (event: FocusEvent) => isTypedInto(event.target) && end()
    const onPageDown = (event: MouseEvent) => {
      const isOurs = event.target instanceof Element && event.target.closest(`.${styles.console}`)?.contains(box)
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

/** By how many lines a key moves; 0 for any other key. */
function stepsOf(key: string, pane: Element): number {
  const page = Math.floor(heightOf(pane) / ROW_HEIGHT_PX)
  const steps: Record<string, number> = {
    ArrowUp: -1,
    ArrowDown: 1,
    PageUp: -page,
    PageDown: page,
    Home: -Number.MAX_SAFE_INTEGER,
    End: Number.MAX_SAFE_INTEGER,
  }
  return steps[key] ?? 0
}

const isTypedInto = (target: EventTarget | null) =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement

/** The start of a keyboard selection: the first visible place if it extends downwards, else the last one. */
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

/** Reports the place under the pointer and scrolls beyond the pane, until the button is up. @returns a stop function */
function trackDrag(pane: HTMLElement, { clientX, clientY }: MouseEvent, onPlace: (place: Place) => void) {
  let [x, y] = [clientX, clientY]
  let hasMoved = false
  const step = () => {
    if (!hasMoved) return
    const { top, height } = pane.getBoundingClientRect()
    const beyond = y < top ? y - top : Math.max(0, y - top - height)
    if (beyond !== 0) pane.scrollTop += beyond
    const place = placeAt(pane, x, Math.min(Math.max(y, top + 1), top + height - 1))
    if (place) onPlace(place)
  }
  const onMove = (event: MouseEvent) => {
    ;[x, y] = [event.clientX, event.clientY]
    hasMoved ||= Math.abs(x - clientX) > CLICK_TOLERANCE_PX || Math.abs(y - clientY) > CLICK_TOLERANCE_PX
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
  const timer = setInterval(step, TRACK_INTERVAL_MS)
  document.addEventListener('mousemove', onMove)
  document.addEventListener('mouseup', onUp)
  return stop
}

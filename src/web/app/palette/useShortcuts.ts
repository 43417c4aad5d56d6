import { useEffect } from 'react'
import { useNavigate } from 'react-router-dom'
import { useAppStore } from '../hooks'
import {
  commandsOpened,
  paletteClosed,
  recallPreferences,
  selectShown,
  selectSingleKeys,
  shortcutsOpened,
} from './paletteSlice'
import { GO_TO, SEQUENCE_MS } from './shortcuts'

/** Rows of lists and tables that `j` and `k` move between: their main link or button. */
const ROWS = 'main [data-row]'

/** Handles the shortcuts of all pages while it is mounted. */
export function useShortcuts(): void {
  const store = useAppStore()
  const navigate = useNavigate()

  useEffect(() => {
    const { dispatch } = store
    dispatch(recallPreferences())
    /** Time of the last `g`, in milliseconds of the event clock. */
    let leaderAt = -Infinity

    const act = (key: string, isAfterLeader: boolean): boolean => {
      const target = isAfterLeader ? GO_TO[key] : undefined
      if (target) void navigate(target.path)
      else if (key === '?') dispatch(shortcutsOpened())
      else if (key === '/') return focusField('main input[type="search"]')
      else if (key === 'c') return focusField('main [data-command-line]')
      else if (key === 'j' || key === 'k') return moveInList(key === 'j' ? 1 : -1)
      else return false
      return true
    }
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, shiftKey, repeat, timeStamp } = event
      if (event.defaultPrevented || event.isComposing) return
      if (key.toLowerCase() === 'k' && ctrlKey !== metaKey && !altKey && !shiftKey) {
        event.preventDefault()
        if (!repeat) dispatch(selectShown(store.getState()) === 'commands' ? paletteClosed() : commandsOpened())
        return
      }
      const state = store.getState()
      // Keys that are typed while the palette loads are meant for it.
      const isElsewhere = isTyping(event) || isDialogOpen() || selectShown(state) !== null
      if (ctrlKey || metaKey || altKey || isElsewhere || !selectSingleKeys(state)) return
      const isAfterLeader = timeStamp - leaderAt < SEQUENCE_MS
      leaderAt = key === 'g' && !isAfterLeader ? timeStamp : -Infinity
      if (act(key, isAfterLeader)) event.preventDefault()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [store, navigate])
}

const isDialogOpen = () => document.querySelector('[role="dialog"], [role="menu"]') !== null

function isTyping({ target }: Event): boolean {
  if (!(target instanceof HTMLElement)) return false
  return target.isContentEditable || target.matches('input:not([type="checkbox"]), textarea, select')
}

/** @returns whether the page has this field */
function focusField(selector: string): boolean {
  const field = document.querySelector<HTMLInputElement>(selector)
  field?.focus()
  // The text of a command line is kept, and typing continues it.
  if (field?.type === 'search') field.select()
  return field !== null
}

/** Moves the focus by a row; from outside of all rows, to the first one. @returns whether there are rows */
function moveInList(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)]
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  if (rows[at]?.role === 'row') {
    // A table draws only the rows in view and moves its focus itself.
    rows[at].dispatchEvent(new KeyboardEvent('keydown', { key: by === 1 ? 'ArrowDown' : 'ArrowUp', bubbles: true }))
    return true
  }
  const next = rows[at === -1 ? 0 : Math.min(Math.max(at + by, 0), rows.length - 1)]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
  return next !== undefined
}

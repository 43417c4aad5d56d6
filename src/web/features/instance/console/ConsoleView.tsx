import type { KeyboardEvent, ReactNode } from 'react'
import { useRef, useState } from 'react'
import { selectBuffer } from '../../../sockets/consoleSlice'
import type { LineBuffer } from '../../../sockets/lineBuffer'
import { selectCurrentMatch, selectIsPaused, selectIsScrolledUp } from '../instanceSlice'
import { JumpButton } from './log/JumpButton'
import { LogSearch } from './log/LogSearch'
import { LogTools } from './log/LogTools'
import { LogWindow } from './log/LogWindow'
import { usePaneSelector } from './pane'
import styles from './console.module.scss'
import logStyles from './log/log.module.scss'

type ConsoleViewProps = {
  label: string
  /** The instance's name, which names a downloaded log. */
  name: string
  /** Rendered before the search field. */
  start: ReactNode
  /** Rendered after the tools. */
  end?: ReactNode
  /** Whether this is one of several consoles, which fills the height that the page gives it. */
  isPane?: boolean
  /** Moves the focus to the command line. */
  onLeave: () => void
  /** Rendered below the log. */
  children?: ReactNode
}

/** The log of a console with its search and tools. */
export function ConsoleView({ label, name, start, end, isPane = false, onLeave, children }: ConsoleViewProps) {
  const live = usePaneSelector(selectBuffer)
  const buffer = useFrozenBuffer(live)
  const search = useRef<HTMLInputElement>(null)
  const pane = useRef<HTMLDivElement>(null)

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
    event.preventDefault()
    search.current?.focus()
    search.current?.select()
  }

  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the browser's own search would miss lines that are not rendered
    <section
      className={isPane ? `${styles.console} ${styles.pane}` : styles.console}
      aria-label={label}
      onKeyDown={onKeyDown}
    >
      <div className={styles.head}>
        {start}
        <LogSearch label={label} shown={buffer} live={live} field={search} pane={pane} onLeave={onLeave} />
        <LogTools buffer={live} shown={buffer} name={name} pane={pane} />
        {end}
      </div>
      <div className={isPane ? `${logStyles.frame} ${logStyles.filling}` : logStyles.frame}>
        <LogWindow buffer={buffer} ref={pane} />
        {buffer.next === buffer.first && (
          <p className={logStyles.empty}>
            {buffer.next === 0 ? 'No output yet' : 'Cleared. New output is shown here.'}
          </p>
        )}
        <JumpButton unseen={live.next - buffer.next} onJump={onLeave} />
      </div>
      {children}
    </section>
  )
}

/**
 * Returns the lines to display. While the console is paused or scrolled up they are frozen, even if the live buffer has
 * evicted them. A search that continues to a newer line refreshes them.
 */
function useFrozenBuffer(live: LineBuffer) {
  const isPaused = usePaneSelector(selectIsPaused)
  const isFrozen = usePaneSelector(selectIsScrolledUp) || isPaused
  const currentMatch = usePaneSelector(selectCurrentMatch)
  const [frozen, setFrozen] = useState<LineBuffer | null>(null)
  const isBeyond =
    frozen !== null && currentMatch !== null && currentMatch.line >= frozen.next && currentMatch.line < live.next
  if (isFrozen !== (frozen !== null) || (isFrozen && isBeyond)) setFrozen(isFrozen ? live : null)
  return isFrozen ? (frozen ?? live) : live
}

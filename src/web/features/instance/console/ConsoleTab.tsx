import type { KeyboardEvent } from 'react'
import { useRef, useState } from 'react'
import { useSelector } from 'react-redux'
import { selectBuffer } from '../../../sockets/consoleSlice'
import type { LineBuffer } from '../../../sockets/lineBuffer'
import { CommandLine } from './CommandLine'
import { ConnectionBadge } from '../ConnectionBadge'
import { selectCurrentMatch, selectIsScrolledUp, selectIsPaused } from '../instanceSlice'
import { JumpButton } from './log/JumpButton'
import { LogSearch } from './log/LogSearch'
import { LogTools } from './log/LogTools'
import { LogWindow } from './log/LogWindow'
import styles from './console.module.scss'
import logStyles from './log/log.module.scss'

type ConsoleTabProps = { uid: string; name: string; plainCommands: readonly string[] | undefined }

export function ConsoleTab({ uid, name, plainCommands }: ConsoleTabProps) {
  const live = useSelector(selectBuffer)
  const buffer = useFrozenBuffer(live)
  const search = useRef<HTMLInputElement>(null)
  const console = useRef<HTMLElement>(null)
  const pane = useRef<HTMLDivElement>(null)

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
    event.preventDefault()
    search.current?.focus()
    search.current?.select()
  }
  const backToCommand = () => console.current?.querySelector<HTMLElement>(`.${styles.commandInput}`)?.focus()

  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the browser's own search would miss what is not drawn
    <section ref={console} className={styles.console} aria-label="Console" onKeyDown={onKeyDown}>
      <div className={styles.head}>
        <ConnectionBadge />
        <LogSearch shown={buffer} live={live} field={search} pane={pane} onLeave={backToCommand} />
        <LogTools buffer={live} shown={buffer} name={name} pane={pane} />
      </div>
      <div className={logStyles.frame}>
        <LogWindow buffer={buffer} ref={pane} />
        {buffer.next === buffer.first && (
          <p className={logStyles.empty}>
            {buffer.next === 0 ? 'No output yet' : 'Cleared. What comes from now on is shown here.'}
          </p>
        )}
        <JumpButton unseen={live.next - buffer.next} onJump={backToCommand} />
      </div>
      <CommandLine uid={uid} plainCommands={plainCommands} />
    </section>
  )
}

/**
 * Returns the lines to display. While the console is paused or scrolled up they are frozen, even if the live buffer has
 * evicted them. A search that continues to a newer line refreshes them.
 */
function useFrozenBuffer(live: LineBuffer) {
  const isPaused = useSelector(selectIsPaused)
  const isFrozen = useSelector(selectIsScrolledUp) || isPaused
  const currentMatch = useSelector(selectCurrentMatch)
  const [frozen, setFrozen] = useState<LineBuffer | null>(null)
  const isBeyond =
    frozen !== null && currentMatch !== null && currentMatch.line >= frozen.next && currentMatch.line < live.next
  if (isFrozen !== (frozen !== null) || (isFrozen && isBeyond)) setFrozen(isFrozen ? live : null)
  return isFrozen ? (frozen ?? live) : live
}

import type { KeyboardEvent } from 'react'
import { useRef, useState } from 'react'
import { useSelector } from 'react-redux'
import { selectBuffer } from '../../sockets/consoleSlice'
import type { LineBuffer } from '../../sockets/lineBuffer'
import { CommandLine } from './CommandLine'
import { ConnectionBadge } from './ConnectionBadge'
import { selectFound, selectIsAway, selectIsPaused } from './instanceSlice'
import { JumpButton } from './JumpButton'
import { LogSearch } from './LogSearch'
import { LogTools } from './LogTools'
import { LogWindow } from './LogWindow'
import './console.scss'

type ConsoleTabProps = { uid: string; name: string; plainCommands: readonly string[] | undefined }

export function ConsoleTab({ uid, name, plainCommands }: ConsoleTabProps) {
  const live = useSelector(selectBuffer)
  const buffer = useStill(live)
  const search = useRef<HTMLInputElement>(null)
  const console = useRef<HTMLElement>(null)

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
    event.preventDefault()
    search.current?.focus()
    search.current?.select()
  }
  const backToCommand = () => console.current?.querySelector<HTMLElement>('.command-input')?.focus()

  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the browser's own search would miss what is not drawn
    <section ref={console} className="console" aria-label="Console" onKeyDown={onKeyDown}>
      <div className="console-head">
        <ConnectionBadge />
        <LogSearch shown={buffer} live={live} field={search} onLeave={backToCommand} />
        <LogTools buffer={live} shown={buffer} name={name} />
      </div>
      <div className="log-frame">
        <LogWindow buffer={buffer} />
        {buffer.next === buffer.first && (
          <p className="log-empty">
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
 * What the reader looks at. Whoever paused or left the end keeps it as it is, also when its lines are long gone; a search
 * that leads on to a line that came since leads to what there is by then.
 */
function useStill(live: LineBuffer) {
  const isPaused = useSelector(selectIsPaused)
  const isStill = useSelector(selectIsAway) || isPaused
  const found = useSelector(selectFound)
  const [still, setStill] = useState<LineBuffer | null>(null)
  const isBeyond = still !== null && found !== null && found.line >= still.next && found.line < live.next
  if (isStill !== (still !== null) || (isStill && isBeyond)) setStill(isStill ? live : null)
  return isStill ? (still ?? live) : live
}

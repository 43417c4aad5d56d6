import { useDispatch, useSelector } from 'react-redux'
import { resumed, selectBuffer, selectHeld } from '../../sockets/consoleSlice'
import { bottomReached, selectAutoScroll, selectReadUpTo } from './instanceSlice'
import { ToolIcon } from './ToolIcon'

/** The way back to what is new, and how much of it there is. */
export function JumpButton() {
  const { next } = useSelector(selectBuffer)
  const held = useSelector(selectHeld)
  const autoScroll = useSelector(selectAutoScroll)
  const readUpTo = useSelector(selectReadUpTo)
  const dispatch = useDispatch()

  if (!held && autoScroll) return null
  const count = next - (held ? held.next : readUpTo)
  const jump = () => {
    if (held) dispatch(resumed())
    dispatch(bottomReached())
  }
  return (
    <button type="button" className="log-jump" onClick={jump}>
      <ToolIcon name={held ? 'play' : 'bottom'} size={14} />
      {held ? `Paused – resume (${count.toLocaleString('en')} new)` : `Jump to bottom${count > 0 ? ` (${count.toLocaleString('en')} new)` : ''}`}
    </button>
  )
}

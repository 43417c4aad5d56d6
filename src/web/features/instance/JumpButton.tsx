import { useDispatch, useSelector } from 'react-redux'
import { bottomReached, resumed, selectAutoScroll, selectIsPaused } from './instanceSlice'
import { ToolIcon } from './ToolIcon'

/** The way back to what is new, and how many lines that is. Once taken it is gone: `onJump` gives the focus another place. */
export function JumpButton({ unseen, onJump }: { unseen: number; onJump: () => void }) {
  const isPaused = useSelector(selectIsPaused)
  const autoScroll = useSelector(selectAutoScroll)
  const dispatch = useDispatch()
  if (!isPaused && autoScroll) return null

  const jump = () => {
    dispatch(resumed())
    dispatch(bottomReached())
    onJump()
  }
  const count = unseen > 0 ? ` (${unseen.toLocaleString('en')} new)` : ''
  return (
    <button type="button" className="log-jump" onClick={jump}>
      <ToolIcon name={isPaused ? 'play' : 'bottom'} size={14} />
      {isPaused ? `Paused – resume${count}` : `Jump to bottom${count}`}
    </button>
  )
}

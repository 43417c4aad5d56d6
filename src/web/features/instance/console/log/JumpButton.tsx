import { usePaneDispatch, usePaneSelector } from '../pane'
import { bottomReached, consoleResumed, selectAutoScroll, selectIsPaused } from '../../instanceSlice'
import { ToolIcon } from './ToolIcon'
import styles from './log.module.scss'

/**
 * Returns to the newest lines, and shows the number of unseen ones. `onJump` must move the focus, because the button
 * unmounts.
 */
export function JumpButton({ unseen, onJump }: { unseen: number; onJump: () => void }) {
  const isPaused = usePaneSelector(selectIsPaused)
  const autoScroll = usePaneSelector(selectAutoScroll)
  const dispatch = usePaneDispatch()
  if (!isPaused && autoScroll) return null

  const jump = () => {
    dispatch(consoleResumed())
    dispatch(bottomReached())
    onJump()
  }
  const count = unseen > 0 ? ` (${unseen.toLocaleString('en')} new)` : ''
  return (
    <button type="button" className={styles.jump} onClick={jump}>
      <ToolIcon name={isPaused ? 'play' : 'bottom'} size={14} />
      {isPaused ? `Paused – resume${count}` : `Jump to bottom${count}`}
    </button>
  )
}

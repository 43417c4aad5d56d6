import { useDispatch, useSelector } from 'react-redux'
import { notified } from '../../facts'
import { linesCleared } from '../../sockets/consoleSlice'
import type { LineBuffer } from '../../sockets/lineBuffer'
import { ActionIcon } from '../../ui/ActionIcon'
import { counted } from '../../ui/counted'
import { Icon } from '../../ui/Icon'
import { autoScrollChosen, paused, resumed, selectAutoScroll, selectIsPaused, selectWrap, wrapToggled } from './instanceSlice'
import { bottomOf } from './logGeometry'
import { LogButton } from './LogButton'
import { saveAs, textOf } from './logText'
import { ToolIcon } from './ToolIcon'

type LogToolsProps = { buffer: LineBuffer; name: string }

export function LogTools({ buffer, name }: LogToolsProps) {
  const isPaused = useSelector(selectIsPaused)
  const autoScroll = useSelector(selectAutoScroll)
  const wrap = useSelector(selectWrap)
  const dispatch = useDispatch()

  const copy = async () => {
    const selection = window.getSelection()
    const isOurs = selection && !selection.isCollapsed && selection.anchorNode?.parentElement?.closest('.log-pane')
    try {
      await navigator.clipboard.writeText(isOurs ? selection.toString() : textOf(buffer))
      dispatch(notified('success', isOurs ? 'Copied the selection' : `Copied ${counted(buffer.next - buffer.first, 'line')}`))
    } catch {
      // Browsers offer no clipboard to pages that are not served securely; the text can still be downloaded.
      dispatch(notified('warning', 'Could not be copied'))
    }
  }

  return (
    <div className="log-tools" role="group" aria-label="Console tools">
      <LogButton label={isPaused ? 'Resume' : 'Pause'} onClick={() => dispatch(isPaused ? resumed() : paused())}>
        <ToolIcon name={isPaused ? 'play' : 'pause'} />
      </LogButton>
      <LogButton
        label="Auto-scroll"
        pressed={autoScroll}
        onClick={() => dispatch(autoScrollChosen({ on: !autoScroll, position: bottomOf(buffer) }))}
      >
        <ToolIcon name="bottom" />
      </LogButton>
      <LogButton label="Wrap lines" pressed={wrap} onClick={() => dispatch(wrapToggled())}>
        <ToolIcon name="wrap" />
      </LogButton>
      <LogButton label="Copy the selection, or all lines" onClick={copy}>
        <Icon name="copy" size={16} />
      </LogButton>
      <LogButton label="Download" onClick={() => saveAs(`${name}.log`, textOf(buffer))}>
        <ToolIcon name="save" />
      </LogButton>
      <LogButton label="Clear" onClick={() => dispatch(linesCleared())}>
        <ActionIcon name="trash" />
      </LogButton>
    </div>
  )
}

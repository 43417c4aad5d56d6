import type { RefObject } from 'react'
import { usePaneDispatch, usePaneSelector } from '../pane'
import { saveText } from '../../../../api/saveAs'
import { notified } from '../../../../facts'
import { linesCleared } from '../../../../sockets/consoleSlice'
import type { LineBuffer } from '../../../../sockets/lineBuffer'
import { ActionIcon } from '../../../../ui/ActionIcon'
import { counted } from '../../../../ui/counted'
import { Icon } from '../../../../ui/Icon'
import {
  autoScrollChosen,
  consolePaused,
  consoleResumed,
  selectAutoScroll,
  selectIsPaused,
  selectSelection,
  selectWrap,
  wrapToggled,
} from '../../instanceSlice'
import { bottomOf, heightOf } from './logGeometry'
import { LogButton } from './LogButton'
import { selectedText, textOf } from './logSelection'
import { ToolIcon } from './ToolIcon'
import styles from '../console.module.scss'

/** `shown` holds the displayed lines, which may be older than `buffer`. */
type LogToolsProps = {
  buffer: LineBuffer
  shown: LineBuffer
  name: string
  pane: RefObject<HTMLElement | null>
}

export function LogTools({ buffer, shown, name, pane }: LogToolsProps) {
  const isPaused = usePaneSelector(selectIsPaused)
  const autoScroll = usePaneSelector(selectAutoScroll)
  const wrap = usePaneSelector(selectWrap)
  const selection = usePaneSelector(selectSelection)
  const dispatch = usePaneDispatch()

  const copy = async () => {
    const selected = selection ? selectedText(shown, selection) : selectedByBrowser(pane.current)
    try {
      await navigator.clipboard.writeText(selected || textOf(buffer))
      dispatch(
        notified(
          'success',
          selected ? 'Copied the selection' : `Copied ${counted(buffer.next - buffer.first, 'line')}`,
        ),
      )
    } catch {
      // Browsers offer no clipboard to pages that are not in a secure context. The text can still be downloaded.
      dispatch(notified('warning', 'Could not be copied'))
    }
  }

  return (
    <div className={styles.logTools} role="group" aria-label="Console tools">
      <LogButton
        label={isPaused ? 'Resume' : 'Pause'}
        onClick={() => dispatch(isPaused ? consoleResumed() : consolePaused())}
      >
        <ToolIcon name={isPaused ? 'play' : 'pause'} />
      </LogButton>
      <LogButton
        label="Auto-scroll"
        pressed={autoScroll}
        onClick={() =>
          dispatch(autoScrollChosen({ on: !autoScroll, position: bottomOf(buffer, heightOf(pane.current)) }))
        }
      >
        <ToolIcon name="bottom" />
      </LogButton>
      <LogButton label="Wrap lines" pressed={wrap} onClick={() => dispatch(wrapToggled())}>
        <ToolIcon name="wrap" />
      </LogButton>
      <LogButton label="Copy the selection, or all lines" onClick={copy}>
        <Icon name="copy" size={16} />
      </LogButton>
      <LogButton label="Download" onClick={() => saveText(`${name}.log`, textOf(buffer))}>
        <ToolIcon name="save" />
      </LogButton>
      <LogButton label="Clear" onClick={() => dispatch(linesCleared())}>
        <ActionIcon name="trash" />
      </LogButton>
    </div>
  )
}

/** Text selected by the browser itself, for example by touch. */
function selectedByBrowser(pane: HTMLElement | null) {
  const selection = window.getSelection()
  const isOurs = selection && !selection.isCollapsed && pane?.contains(selection.anchorNode)
  return isOurs ? selection.toString() : ''
}

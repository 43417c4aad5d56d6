import type { RefObject } from 'react'
import { useEffect, useId } from 'react'
import { useDispatch } from 'react-redux'
import { useAppSelector } from '../../../app/hooks'
import type { RootState } from '../../../app/types'
import { commandSubmitted } from '../../../sockets/consoleSlice'
import type { Pane } from '../../../sockets/panes'
import { inPane } from '../../../sockets/panes'
import { CommandField } from '../console/CommandField'
import { selectCommands } from '../instanceSlice'
import { targetsChosen, targetToggled } from './consolesSlice'
import type { ShownConsole } from './useShownConsoles'
import consoleStyles from '../console/console.module.scss'
import buttonStyles from '../console/log/logButton.module.scss'
import styles from './consoles.module.scss'

type BroadcastLineProps = { consoles: ShownConsole[]; field: RefObject<HTMLInputElement | null> }

/** One command line for all, some or one of the page's consoles. */
export function BroadcastLine({ consoles, field }: BroadcastLineProps) {
  const dispatch = useDispatch()
  const id = useId()
  const usable = consoles.filter(({ instance }) => instance)
  const targets = usable.filter(({ isTarget }) => isTarget)
  const commands = useCommands(targets.map(({ pane }) => pane))
  useTargetKeys(consoles)

  const send = (command: string) => {
    for (const { pane, instance } of targets) dispatch(inPane(commandSubmitted(command, instance?.plainCommands), pane))
  }
  const to = targetText(targets, usable)
  return (
    <section
      className={`${consoleStyles.console} ${styles.broadcast}`}
      aria-label="Command line for the consoles"
      data-bs-theme="dark"
    >
      <div className={styles.targets} role="group" aria-label="Send to">
        <span className={styles.label} aria-hidden="true">
          Send to
        </span>
        {consoles.map((console, index) => (
          <TargetSwitch key={console.pane} console={console} number={index + 1} />
        ))}
        {consoles.length > 1 && (
          <button
            type="button"
            className={buttonStyles.logButton}
            aria-keyshortcuts="Alt+0"
            title="Alt+0"
            onClick={() => dispatch(targetsChosen(consoles.map(({ pane }) => pane)))}
          >
            All
          </button>
        )}
        <p id={id} className={styles.to} role="status">
          {targets.length === 0 ? 'Choose a console to send to' : `Sends to ${to}`}
        </p>
      </div>
      <CommandField
        field={field}
        draftKey="consoles"
        commands={commands}
        isUsable={targets.length > 0}
        placeholder={targets.length === 0 ? 'No console is chosen' : `Type a command for ${to}`}
        describedBy={id}
        onSend={send}
      />
    </section>
  )
}

function TargetSwitch({ console, number }: { console: ShownConsole; number: number }) {
  const { pane, instance, problem } = console
  const dispatch = useDispatch()
  const name = instance?.name ?? `Console ${number}`
  const isTarget = console.isTarget && instance !== undefined
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isTarget}
      aria-disabled={!instance || undefined}
      aria-label={name}
      aria-keyshortcuts={`Alt+${number}`}
      title={
        instance
          ? `${name}: Alt+${number}, only this one: Alt+Shift+${number}`
          : (problem ?? 'Its instance is not loaded yet')
      }
      className={styles.chip}
      onClick={() => instance && dispatch(targetToggled(pane))}
    >
      <span className={isTarget ? `${styles.number} ${styles.target}` : styles.number}>{number}</span>
      <span className={styles.chipName}>{name}</span>
    </button>
  )
}

function targetText(targets: ShownConsole[], usable: ShownConsole[]): string {
  const [first] = targets
  if (targets.length === 1) return first?.instance?.name ?? ''
  if (targets.length < usable.length) return `${targets.length} of ${usable.length} consoles`
  return targets.length === 2 ? 'both consoles' : `all ${targets.length} consoles`
}

/** The merged history of all targets. */
function useCommands(panes: Pane[]): string[] {
  const histories = useAppSelector(
    (state: RootState) => panes.map((pane) => selectCommands(state, pane)),
    (one, other) => one.length === other.length && one.every((commands, index) => commands === other[index]),
  )
  return mergeCommands(histories)
}

/** Alt and a number toggles a target; with Shift it becomes the only one. Alt+0 selects all. */
function useTargetKeys(consoles: ShownConsole[]): void {
  const dispatch = useDispatch()
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // Uses the physical key, because Mac keyboards type another character with Alt. Not the number pad, with which
      // Windows types characters.
      const digit = /^Digit([0-4])$/.exec(event.code)?.[1]
      if (digit === undefined || !event.altKey || event.ctrlKey || event.metaKey || event.repeat) return
      if (document.querySelector('[role="dialog"]')) return
      const shown = consoles[Number(digit) - 1]
      if (digit === '0') dispatch(targetsChosen(consoles.map(({ pane }) => pane)))
      else if (!shown) return
      else dispatch(event.shiftKey ? targetsChosen([shown.pane]) : targetToggled(shown.pane))
      event.preventDefault()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [consoles, dispatch])
}

/**
 * Merges several histories, oldest first. A command in several of them, such as one that was sent to all, appears once,
 * at its last use.
 */
const mergeCommands = (histories: readonly (readonly string[])[]): string[] =>
  [...new Set(histories.flat().reverse())].reverse()

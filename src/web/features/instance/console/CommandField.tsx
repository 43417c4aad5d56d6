import type { FocusEvent, FormEvent, KeyboardEvent, RefObject } from 'react'
import { COMMAND_MAX_LENGTH } from '../../../../contract/pageRules'
import { useCommandLine } from './useCommandLine'
import styles from './commandField.module.scss'
import buttonStyles from './log/logButton.module.scss'

type CommandFieldProps = {
  field: RefObject<HTMLInputElement | null>
  /** The key under which unsent text is kept (commandDrafts.ts). */
  draftKey: string
  /** The history, oldest first. */
  commands: readonly string[]
  isUsable: boolean
  placeholder: string
  /** Id of the element that says where the command goes. */
  describedBy?: string
  onSend: (command: string) => void
}

/** A field for a command, with the history of commands. */
export function CommandField({
  field,
  draftKey,
  commands,
  isUsable,
  placeholder,
  describedBy,
  onSend,
}: CommandFieldProps) {
  const { text, type, older, newer } = useCommandLine(draftKey, commands)

  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (!isUsable || text.trim() === '') return
    onSend(text)
    type('')
  }
  /** Scrolls a console whose end is below the window into view, so that its newest lines are seen while typing. */
  const onFocus = ({ currentTarget }: FocusEvent) => {
    const console = currentTarget.closest('section')
    if (console && console.getBoundingClientRect().bottom > window.innerHeight) console.scrollIntoView({ block: 'end' })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.key !== 'ArrowUp' && event.key !== 'ArrowDown') || event.nativeEvent.isComposing) return
    event.preventDefault()
    if (event.key === 'ArrowUp') older()
    else newer()
  }

  return (
    <form className={styles.commandLine} onSubmit={onSubmit}>
      <span className={styles.commandPrompt} aria-hidden="true">
        ›
      </span>
      <input
        ref={field}
        className={styles.commandInput}
        aria-label="Command"
        // For the shortcut that focuses it.
        data-command-line
        aria-describedby={describedBy}
        // Not disabled, because a short interruption of the connection must not take the focus away.
        readOnly={!isUsable}
        aria-disabled={!isUsable}
        placeholder={placeholder}
        value={text}
        maxLength={COMMAND_MAX_LENGTH}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        onChange={(event) => type(event.target.value)}
        onFocus={onFocus}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className={buttonStyles.logButton} disabled={!isUsable}>
        Send
      </button>
    </form>
  )
}

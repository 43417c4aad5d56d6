import type { FormEvent, KeyboardEvent } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { COMMAND_MAX_LENGTH } from '../../../../contract/pageRules'
import { commandSubmitted, selectConnection } from '../../../sockets/consoleSlice'
import { selectCommands } from '../instanceSlice'
import { useCommandLine } from './useCommandLine'
import styles from './console.module.scss'

export function CommandLine({ uid, plainCommands }: { uid: string; plainCommands: readonly string[] | undefined }) {
  const isOpen = useSelector(selectConnection) === 'open'
  const { text, type, older, newer } = useCommandLine(uid, useSelector(selectCommands))
  const dispatch = useDispatch()

  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (!isOpen || text.trim() === '') return
    dispatch(commandSubmitted(text, plainCommands))
    type('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
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
        className={styles.commandInput}
        aria-label="Command"
        // Not disabled, because a short interruption of the connection must not take the focus away.
        readOnly={!isOpen}
        aria-disabled={!isOpen}
        placeholder={isOpen ? 'Type a command' : 'Not connected'}
        value={text}
        maxLength={COMMAND_MAX_LENGTH}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        onChange={(event) => type(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className={styles.logButton} disabled={!isOpen}>
        Send
      </button>
    </form>
  )
}

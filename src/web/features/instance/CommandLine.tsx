import type { FormEvent, KeyboardEvent } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { commandSent, selectConnection } from '../../sockets/consoleSlice'
import { selectCommands } from './instanceSlice'
import { useCommandLine } from './useCommandLine'

/** As long as the platform takes it (contract/consoleChannel.ts). */
const LONGEST = 8192

export function CommandLine({ uid, plainCommands }: { uid: string; plainCommands: readonly string[] | undefined }) {
  const isOpen = useSelector(selectConnection) === 'open'
  const { text, type, older, newer } = useCommandLine(uid, useSelector(selectCommands))
  const dispatch = useDispatch()

  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (!isOpen || text.trim() === '') return
    dispatch(commandSent(text, plainCommands))
    type('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
    event.preventDefault()
    if (event.key === 'ArrowUp') older()
    else newer()
  }

  return (
    <form className="command-line" onSubmit={onSubmit}>
      <span className="command-prompt" aria-hidden="true">
        ›
      </span>
      <input
        className="command-input"
        aria-label="Command"
        // Not disabled: a connection that is away for a moment must not take the focus along.
        readOnly={!isOpen}
        aria-disabled={!isOpen}
        placeholder={isOpen ? 'Type a command' : 'Not connected'}
        value={text}
        maxLength={LONGEST}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        onChange={(event) => type(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className="log-button" disabled={!isOpen}>
        Send
      </button>
    </form>
  )
}

import type { RefObject } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { commandSubmitted, selectConnection } from '../../../sockets/consoleSlice'
import type { RootState } from '../../../app/types'
import { selectCommands } from '../instanceSlice'
import { CommandField } from './CommandField'

type CommandLineProps = {
  uid: string
  plainCommands: readonly string[] | undefined
  field: RefObject<HTMLInputElement | null>
}

/** The command line of the instance page. */
export function CommandLine({ uid, plainCommands, field }: CommandLineProps) {
  const isOpen = useSelector((state: RootState) => selectConnection(state)) === 'open'
  const commands = useSelector((state: RootState) => selectCommands(state))
  const dispatch = useDispatch()
  return (
    <CommandField
      field={field}
      draftKey={uid}
      commands={commands}
      isUsable={isOpen}
      placeholder={isOpen ? 'Type a command' : 'Not connected'}
      onSend={(command) => dispatch(commandSubmitted(command, plainCommands))}
    />
  )
}

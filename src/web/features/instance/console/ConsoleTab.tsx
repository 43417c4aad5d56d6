import { useRef } from 'react'
import { ConnectionBadge } from '../ConnectionBadge'
import { CommandLine } from './CommandLine'
import { ConsoleView } from './ConsoleView'

type ConsoleTabProps = { uid: string; name: string; plainCommands: readonly string[] | undefined }

export function ConsoleTab({ uid, name, plainCommands }: ConsoleTabProps) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <ConsoleView label="Console" name={name} start={<ConnectionBadge />} onLeave={() => field.current?.focus()}>
      <CommandLine uid={uid} plainCommands={plainCommands} field={field} />
    </ConsoleView>
  )
}

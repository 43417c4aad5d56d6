/** Replaces a command that looks like it contains a secret. */
export const COMMAND_NOT_SHOWN = '(not shown: it looks like it holds a secret)'

/** The line of the platform that shows all viewers of a console who sent a command: dimmed, with the user's name. */
export const commandNote = (username: string, command: string) =>
  `\u001b[2m${username}: ${command.replaceAll(/\p{Cc}/gu, ' ')}\u001b[0m`

/** The platform cuts long lines, so that the end may be missing. */
// eslint-disable-next-line no-control-regex -- colours begin with that character
const NOTE = /^(\u001b\[2m[^\s:]+: )(.+?)((?:\u001b\[0m)?)$/s

/** Returns the command that a line of the platform shows, or undefined. */
export function commandOfNote(line: string): string | undefined {
  const command = NOTE.exec(line)?.[2]
  return command === COMMAND_NOT_SHOWN ? undefined : command
}

/** Whether a line of the platform says that a command is not shown. */
export const isCommandWithheld = (line: string) => NOTE.exec(line)?.[2] === COMMAND_NOT_SHOWN

/** Changes the command that a line of the platform shows. Returns other lines unchanged. */
export const changeCommandOfNote = (line: string, change: (command: string) => string): string =>
  commandOfNote(line) === undefined
    ? line
    : line.replace(NOTE, (_line, before: string, command: string, after: string) => before + change(command) + after)
